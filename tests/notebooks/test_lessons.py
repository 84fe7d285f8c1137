"""Every lesson keeps the rules that a program can hold."""

import pytest

from utils.lessons import rules
from utils.lessons.first_cell import LESSONS

# Still to be written anew.
OLD = ("00", "07", "08", "09", "16", "21")
LESSON_FILES = {file.name[:2]: file for file in sorted(LESSONS.glob("[0-9][0-9]_*.ipynb"))}


@pytest.mark.parametrize("number", [number for number in LESSON_FILES if number not in OLD])
def test_a_lesson_keeps_the_rules(number):
    assert rules.broken_rules(rules.read(LESSON_FILES[number])) == []


@pytest.mark.parametrize("number", OLD)
def test_a_lesson_that_keeps_them_is_not_called_old(number):
    assert rules.broken_rules(rules.read(LESSON_FILES[number]))
