"""Tests of the questions of all lessons: their names, texts and kinds of answer."""

import re

import pytest

from utils.figures.look import number
from utils.lessons.questions import Question, bank

QUESTIONS = [pytest.param(question, id=name) for name, question in bank().items()]


@pytest.mark.parametrize("name", bank())
def test_a_name_begins_with_its_lesson(name):
    assert re.fullmatch(r"\d\d\.[a-z_]+", name)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_has_one_kind_of_answer(question):
    assert [bool(question.unit), bool(question.choices), bool(question.order)].count(True) == 1
    assert not question.text.endswith((".", "?"))
    assert len(question.text) <= 80


@pytest.mark.parametrize(
    "value, text", [(0.25, "0.25"), (32.0, "32"), (9.98, "9.98"), (15728.6, "15,729")]
)
def test_a_number_has_three_digits_that_count(value, text):
    assert number(value) == text


def test_a_share_is_compared_in_percentage_points():
    share = Question("A share", unit="%")
    assert share.feedback(30, 51.5) == "Your number is too low by 21.5 percentage points."
    assert share.feedback(58, 51.5).endswith("6.5 percentage points. That is close.")
    assert share.feedback(51, 51.5) == "You were right."
