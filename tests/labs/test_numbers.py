"""Tests of formulas: they are judged case by case, and a mistake is named only if it is certain."""

import json
from dataclasses import replace

import pytest

from labs.checking import exercise
from labs.checking.recognise import FILE
from labs.numbers import exercise as numbers
from labs.numbers.exercise import Case, NumbersExercise

CASES = [Case((x, y), x * y, f"{x} times {y}.") for x, y in ((2, 3), (1, 1), (5, 7), (4, 9))]
EXERCISE = NumbersExercise(
    name="product", lesson="00", title="A product", text=("Write it.",), hints=(), after="Done.",
    parameters=("x", "y"), unit="square", promises=("right",), cases=lambda: CASES,
    right=lambda x, y: x * y, draw=lambda random: (random.randint(1, 9), random.randint(1, 9)),
)  # fmt: skip


@pytest.fixture(autouse=True)
def one_known_mistake(tmp_path, monkeypatch):
    """The exercise has a table in its folder."""
    monkeypatch.setattr(exercise, "EXERCISES", tmp_path)
    added = numbers.fingerprint(EXERCISE, lambda x, y: x + y, 20)
    EXERCISE.folder.mkdir()
    table = {"known": {"They are added. {numbers}": added}, "alike": {}}
    (EXERCISE.folder / FILE).write_text(json.dumps(table), encoding="utf-8")


def verdict_on(submission, patience=20.0):
    return str(numbers.judge(EXERCISE, submission, patience))


def test_a_right_function_passes_in_all_cases():
    assert verdict_on(lambda x, y: x * y) == "A product: right.\nRight in all 4 cases.\nDone."
    assert numbers.judge(EXERCISE, lambda x, y: y * x * 1.0, 20).counts == {"cases": 4}


def test_a_known_mistake_is_named_with_the_first_wrong_case_and_its_numbers():
    with_numbers = replace(EXERCISE, beside=lambda one, answer: f"{answer} is {one.given}.")
    assert str(numbers.judge(with_numbers, lambda x, y: y + x, 20)).endswith(
        "For x = 2, y = 3 you return 5, and 6 squares are right. They are added. 5 is (2, 3)."
    )


def test_a_mistake_that_explains_some_answers_only_is_not_named():
    def other_later(x, y):
        return x + y if x < 5 else 0

    assert verdict_on(other_later).endswith("6 squares are right. 2 times 3.")


def test_a_mistake_is_not_named_where_too_few_cases_have_an_answer():
    def fails_later(x, y):
        return (x + y) // (5 - x)

    def mostly(x, y):
        return x + y if x < 5 else 1 // (x - x)

    assert "They are added" not in verdict_on(mostly)
    assert "2 times 3" in verdict_on(mostly)
    assert "you return 1, and 6" in verdict_on(fails_later)


def test_one_is_written_in_the_singular():
    def wrong_for_ones(x, y):
        return x * y + (x == 1)

    assert "you return 2, and 1 square is right" in verdict_on(wrong_for_ones)


def test_a_number_without_a_unit_is_right_by_itself():
    plain = replace(EXERCISE, unit="")
    verdict = str(numbers.judge(plain, lambda x, y: 7, 20))
    assert "you return 7, and 6 is right. 2 times 3." in verdict
    verdict = str(numbers.judge(plain, lambda x, y: 6.5, 20))
    assert "6 is right. The answer is always whole" in verdict


def test_an_error_is_told_with_its_case():
    assert "For x = 2, y = 3: Line" in verdict_on(lambda x, y: x // (y - 3))
    assert "divides by zero" in verdict_on(lambda x, y: x // (y - 3))


@pytest.mark.parametrize(
    ("submission", "words"),
    [
        (None, "This is None"),
        (6, "This is a int"),
        (lambda x: x, "Yours has 1 parameter"),
        (lambda y, x: x * y, "stand in another order: y, x"),
        (lambda x, y: None, "returns nothing"),
        (lambda x, y: (x, y), "returns 2 values"),
        (lambda x, y: x > y, "returns False, and a number is wanted"),
        (lambda x, y: "6", "returns '6', and a number is wanted"),
        (lambda x, y: x * y + 0.25, "6 squares are right. A number of squares is whole, and this"),
        (lambda x, y: float("inf"), "you return inf, and 6 squares"),
        (lambda x, y: float("nan"), "A number of squares is whole, and this is not"),
    ],
)
def test_what_is_no_such_function_is_refused_in_a_sentence(submission, words):
    assert words in verdict_on(submission)


def test_a_function_that_is_far_too_slow_is_stopped():
    assert "0 of 4 cases took 0 seconds" in verdict_on(lambda x, y: x * y, patience=0.0)
