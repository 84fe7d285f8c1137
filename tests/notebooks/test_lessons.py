"""Tests that every lesson keeps the rules of `utils.lessons.rules`."""

import ast

import pytest

from labs.exercises import find
from utils.lessons import rules
from utils.paths import lessons

LESSON_FILES = lessons()


@pytest.mark.parametrize("number", LESSON_FILES)
def test_a_lesson_keeps_the_rules(number):
    assert rules.broken_rules(rules.read(LESSON_FILES[number])) == []


def kernels_to_begin_with(lesson):
    """Return exercise -> text of the reader's cell before its check."""
    checks = sorted((position, name) for name, position in lesson.positions("check").items())
    turns = [cell for cell in lesson.code if rules.YOUR_TURN in cell.tags]
    return {
        next(name for position, name in checks if position > cell.position): cell.source
        for cell in turns
    }


def without_imports(text):
    """Return a starter without its docstring and imports, but with its constants."""
    others = (ast.Expr, ast.Import, ast.ImportFrom)
    first = next(node for node in ast.parse(text).body if not isinstance(node, others))
    decorators = getattr(first, "decorator_list", [])
    begin = min([first.lineno, *(each.lineno for each in decorators)])
    return "\n".join(text.splitlines()[begin - 1 :]).rstrip()


@pytest.mark.parametrize("number", LESSON_FILES)
def test_the_reader_begins_with_the_starter_of_the_exercise(number):
    cells = kernels_to_begin_with(rules.read(LESSON_FILES[number]))
    assert cells == {name: without_imports(find(name).starter_text) for name in cells}
    assert cells
