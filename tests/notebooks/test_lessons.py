"""Every lesson keeps the rules that a program can hold."""

import ast

import pytest

from labs.exercises import find
from utils.lessons import rules
from utils.lessons.first_cell import LESSONS

LESSON_FILES = {file.name[:2]: file for file in sorted(LESSONS.glob("[0-9][0-9]_*.ipynb"))}


@pytest.mark.parametrize("number", LESSON_FILES)
def test_a_lesson_keeps_the_rules(number):
    assert rules.broken_rules(rules.read(LESSON_FILES[number])) == []


def kernels_to_begin_with(lesson):
    """The text of each cell in which the reader writes, by the exercise that is checked next."""
    checks = sorted((place, name) for name, place in lesson.places("check").items())
    turns = [cell for cell in lesson.code if rules.YOUR_TURN in cell.tags]
    return {
        next(name for place, name in checks if place > cell.place): cell.source for cell in turns
    }


def without_imports(text):
    """A starter without its docstring and imports, but with its constants."""
    others = (ast.Expr, ast.Import, ast.ImportFrom)
    first = next(one for one in ast.parse(text).body if not isinstance(one, others))
    decorators = getattr(first, "decorator_list", [])
    begin = min([first.lineno, *(each.lineno for each in decorators)])
    return "\n".join(text.splitlines()[begin - 1 :]).rstrip()


@pytest.mark.parametrize("number", LESSON_FILES)
def test_the_reader_begins_with_the_starter_of_the_exercise(number):
    given = kernels_to_begin_with(rules.read(LESSON_FILES[number]))
    assert given == {name: without_imports(find(name).starter_text) for name in given}
    assert given
