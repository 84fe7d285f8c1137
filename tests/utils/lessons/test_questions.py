"""Tests of the questions of all lessons: their names, texts and kinds of answer."""

import re

import pytest

from utils.errors import CourseError
from utils.figures.look import number
from utils.lessons.files import notebook_of
from utils.lessons.lesson_text import read
from utils.lessons.questions import Question, bank
from utils.paths import lessons

QUESTIONS = [pytest.param(question, id=name) for name, question in bank().items()]


@pytest.mark.parametrize("name", bank())
def test_a_name_begins_with_its_lesson(name):
    lesson, _, rest = name.partition(".")
    assert notebook_of(lesson).exists()
    assert re.fullmatch("[a-z_]+", rest)


@pytest.mark.parametrize("lesson", lessons())
def test_the_ledger_lists_the_questions_in_the_order_of_the_page(lesson):
    asked = list(read(lessons()[lesson]).positions("predict"))
    assert asked == [name for name in bank() if name in asked]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_has_one_kind_of_answer(question):
    number = bool(question.unit or question.label)
    assert [number, bool(question.choices), bool(question.order)].count(True) == 1
    assert not question.text.endswith((".", "?"))
    assert len(question.text) <= 80


@pytest.mark.parametrize(
    "value, text", [(0.25, "0.25"), (32.0, "32"), (9.98, "9.98"), (15728.6, "15,729")]
)
def test_a_number_has_three_digits_that_count(value, text):
    assert number(value) == text


def test_a_share_is_compared_in_percentage_points():
    share = Question("A share", unit="%")
    assert share.feedback(30, 51.5) == (
        "You said 30 %, the answer is 51.5 %: too low by 21.5 percentage points."
    )
    assert share.feedback(61, 51.5).endswith("too high by 9.5 percentage points.")
    assert share.feedback(51, 51.5) == "You were right: you said 51 %."


@pytest.mark.parametrize(
    "unit, said, verdict",
    [
        ("times", 105, "You were right"), ("times", 106, "Close"), ("times", 115, "Close"),
        ("times", 116, "You said"), ("times", 85, "Close"), ("times", 84, "You said"),
        ("%", 115, "Close"), ("%", 116, "You said"),
    ],
)  # fmt: skip
def test_right_is_within_5_percent_and_close_within_15(unit, said, verdict):
    assert Question("How much", unit).feedback(said, 100).startswith(verdict)


def test_a_share_is_close_within_three_points_but_not_a_small_one():
    share = Question("Share", "%")
    assert share.feedback(22.9, 20.0).startswith("Close:")
    assert share.feedback(0.009, 0.897).endswith("too low by a factor of 99.7.")


def test_of_a_count_only_the_very_number_is_right_and_it_is_whole():
    count = Question("Threads", "threads", exact=True)
    assert count.feedback(24.0, 24.0) == "You were right: you said 24 threads."
    assert count.feedback(23.0, 24.0).startswith("Close:")
    assert count.feedback(20.0, 24.0).endswith("the answer is 24 threads: 4 threads too few.")
    counted = Question("Steps", "steps", "step", exact=True)
    assert counted.feedback(2, 1).endswith("2 steps, the answer is 1 step: 1 step too many.")
    assert count.parse(24) == count.parse(24.0) == 24
    with pytest.raises(CourseError, match=r"give a whole number; 15\.6 was given"):
        count.parse(15.6)
    assert count.feedback(count.parse(0), 24.0).endswith("24 threads: 24 threads too few.")
    with pytest.raises(CourseError, match="must be at least 0, and -1 was given"):
        count.parse(-1)


def test_a_choice_is_told_beside_the_right_one():
    speed = Question("Is it faster", choices=("faster", "slower"))
    assert speed.feedback("slower", "faster") == (
        'You chose "slower". The right answer is "faster".'
    )
    assert speed.feedback("faster", "faster") == 'You chose "faster". That is right.'


@pytest.mark.parametrize("given", [2048, 2048.0, "2048", " 2048 "])
def test_a_number_is_taken_where_the_choices_are_numbers_in_quotes(given):
    assert Question("Which size", choices=("512", "2048")).parse(given) == "2048"


@pytest.mark.parametrize("given", [True, float("nan"), float("inf"), 2048.5, 1024, None, [2048]])
def test_another_number_is_no_choice(given):
    with pytest.raises(CourseError, match="is not one of the answers"):
        Question("Which size", choices=("1", "512", "2048")).parse(given)


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_explanation_has_one_or_two_short_lines(question):
    assert len(question.reasons) <= 2
    assert all(len(line) <= 110 for line in question.reasons)
