"""Tests that every lesson keeps the rules of `utils.lessons.rules`."""

import ast

import pytest

from labs.exercises import find
from tools import rule_exceptions as wider
from utils.lessons import rules
from utils.lessons.lesson_text import YOUR_TURN, read
from utils.lessons.rule_exceptions import FILE, exceptions, exceptions_of
from utils.paths import lessons

LESSON_FILES = lessons()
WIDER = [rules.name_of(rule) for rule in wider.WIDER_RULES]


@pytest.mark.parametrize("number", LESSON_FILES)
def test_a_lesson_keeps_the_rules(number):
    excepted = exceptions_of(number)
    lesson = read(LESSON_FILES[number])
    assert rules.broken_rules(lesson, excepted) == []
    listed = [name for name in excepted if name in WIDER]
    assert wider.broken(lesson, wider.WIDER_RULES) == listed, "run python -m tools.rule_exceptions"


def test_the_list_of_broken_rules_is_as_its_command_writes_it(tmp_path):
    assert set(exceptions()) <= set(LESSON_FILES)
    names = {number: list(names) for number, names in exceptions().items()}
    assert {name for broken in names.values() for name in broken} <= {*rules.EXCEPTABLE, *WIDER}
    assert FILE.read_text(encoding="utf-8") == wider.text(names)
    # Without executed notebooks, the command keeps what only these show.
    for number in names:
        assert wider.listed(number, tmp_path) == names[number]


def test_a_lesson_that_breaks_no_rule_is_not_in_the_list():
    assert wider.text({"00": [], "01": ["has_three_tasks"]}).endswith(
        '.py.\n"01" = [\n    "has_three_tasks",\n]\n'
    )


def kernels_to_begin_with(lesson):
    """Return exercise -> text of the reader's cell before its check."""
    checks = sorted((position, name) for name, position in lesson.positions("check").items())
    turns = [cell for cell in lesson.code if YOUR_TURN in cell.tags]
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
    cells = kernels_to_begin_with(read(LESSON_FILES[number]))
    assert cells == {name: without_imports(find(name).starter_text) for name in cells}
    assert cells
