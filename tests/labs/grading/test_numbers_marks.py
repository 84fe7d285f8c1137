"""Functions of numbers are graded by hidden cases, so a table of answers is worth little."""

from dataclasses import replace

import pytest

from labs import EXERCISES
from labs.grading.grade import grade
from labs.grading.hidden import draw_hidden, graded_cases
from labs.grading.labs import LABS, find
from labs.grading.marks import rows_of
from labs.grading.submissions import Submission
from labs.numbers.evaluator import make_evaluator
from labs.numbers.exercise import NumbersExercise, same

SECRET = "a secret of sixteen characters"
NUMBERS = [name for name, one in EXERCISES.items() if isinstance(one, NumbersExercise)]


@pytest.mark.parametrize("name", NUMBERS)
def test_the_formula_of_a_function_of_numbers_gives_what_its_cases_say(name):
    exercise = EXERCISES[name]
    wrong = [one for one in exercise.all_cases if not same(exercise.right(*one.given), one.right)]
    assert wrong == []


@pytest.mark.parametrize("name", NUMBERS)
def test_the_solution_is_right_in_cases_of_any_secret(name):
    exercise = EXERCISES[name]
    evaluate = make_evaluator(exercise.solution)
    for number in range(3):
        cases = draw_hidden(exercise, f"{SECRET} {number}").given
        assert [one for one in cases if not same(evaluate(one), exercise.right(*one))] == []


def test_hidden_cases_are_new_and_follow_from_the_secret():
    for name in NUMBERS:
        exercise = EXERCISES[name]
        hidden = draw_hidden(exercise, SECRET)
        assert hidden == draw_hidden(exercise, SECRET)
        assert hidden != draw_hidden(exercise, SECRET + "x")
        assert not set(hidden.given) & {case.given for case in exercise.all_cases}
        assert len(set(hidden.given)) == len(hidden.given) == 24


@pytest.mark.parametrize("name", NUMBERS)
def test_a_table_of_the_cases_that_everyone_can_read_loses_most_points(name):
    part = next(part for lab in LABS.values() for part in lab.parts if part.exercise == name)
    table = {case.given: case.right for case in part.definition.all_cases}
    messages = [{"answers": [table.get(one, 1) for one in _graded_numbers(part.definition)]}]
    rows = rows_of(part, messages, draw_hidden(part.definition, SECRET), "")
    assert [row.points for row in rows] == [20 * part.points, 10 * part.points, 0]
    assert "cases are wrong. For `" in rows[-1].told


def _graded_numbers(exercise):
    return [*(case.given for case in graded_cases(exercise)), *draw_hidden(exercise, SECRET).given]


def test_a_function_that_looks_answers_up_is_marked_by_its_text():
    lab = replace(find("occupancy"), parts=find("occupancy").parts[:1])
    (part,) = lab.parts
    branches = "".join(
        f"    if side == {case.given[0]}:\n        return {case.right}\n"
        for case in part.definition.all_cases
    )
    text = f"def required_shared(side):\n{branches}    return 0\n"
    mark = grade(lab, Submission("student", (("work.py", text.encode()),)), SECRET)
    assert (mark.points, mark.of) == (450, 1500)
    assert "it returns 0." in mark.rows[-1].told
