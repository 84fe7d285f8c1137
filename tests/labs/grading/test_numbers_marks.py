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
from utils.errors import CourseError

SECRET = "a secret of sixteen characters"
NUMBERS = [name for name, one in EXERCISES.items() if isinstance(one, NumbersExercise)]
DRAWN = [name for name in NUMBERS if EXERCISES[name].draw]


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
    for name in DRAWN:
        exercise = EXERCISES[name]
        hidden = draw_hidden(exercise, SECRET)
        assert hidden == draw_hidden(exercise, SECRET)
        assert hidden != draw_hidden(exercise, SECRET + "x")
        assert not set(hidden.given) & {case.given for case in exercise.all_cases}
        assert len(set(hidden.given)) == len(hidden.given) == 24


def test_an_exercise_whose_task_lists_all_cases_is_an_error_and_no_endless_draw():
    few = EXERCISES["lane_of"]
    few = replace(few, draw=lambda random: few.all_cases[0].given)
    with pytest.raises(CourseError, match="lane_of draws 0 cases that are not among those"):
        draw_hidden(few, SECRET)


def test_a_task_that_lists_all_cases_is_graded_by_each_of_them_once():
    (name,) = set(NUMBERS) - set(DRAWN)
    graded = _graded_numbers(EXERCISES[name])
    assert sorted(graded) == sorted(case.given for case in EXERCISES[name].all_cases)
    assert len(set(graded)) == len(graded) == 128
    others = draw_hidden(EXERCISES[name], SECRET + "x").given
    assert others != draw_hidden(EXERCISES[name], SECRET).given
    assert set(others) == set(graded[-len(others) :])


@pytest.mark.parametrize("name", DRAWN)
def test_a_table_of_the_cases_that_everyone_can_read_loses_most_points(name):
    part = next(part for lab in LABS.values() for part in lab.parts if part.exercise == name)
    table = {case.given: case.right for case in part.definition.all_cases}
    messages = [{"answers": [table.get(one, 1) for one in _graded_numbers(part.definition)]}]
    rows = rows_of(part, messages, draw_hidden(part.definition, SECRET), "")
    assert [row.points for row in rows] == [rows[0].of, 0]
    assert rows[0].of <= 0.4 * part.points
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
    assert (mark.points, mark.of) == (4, 15)
    assert "it returns 0." in mark.rows[-1].told


@pytest.mark.parametrize("name", NUMBERS)
def test_one_wrong_case_costs_its_share_and_a_constant_gets_nothing(name):
    part = next(part for lab in LABS.values() for part in lab.parts if part.exercise == name)
    part, hidden = replace(part, points=100), draw_hidden(part.definition, SECRET)
    rights = [part.definition.right(*one) for one in _graded_numbers(part.definition)]
    (_, drawn) = rows_of(part, [{"answers": [*rights[:-1], -1]}], hidden, "")
    assert drawn.told.startswith(f"1 of {len(hidden.given)} cases are wrong.")
    assert 0.85 * drawn.of < drawn.points < drawn.of
    for constant in set(rights):
        rows = rows_of(part, [{"answers": [constant] * len(rights)}], hidden, "")
        assert sum(row.points for row in rows) <= 10


def test_what_check_knows_of_numpy_is_graded_too():
    lab = replace(find("occupancy"), parts=find("occupancy").parts[:1])
    text = "import numpy as np\n\n\ndef required_shared(side):\n"
    text += "    return int(8 * np.ceil(side - 0.5) * np.floor(side + 0.5))\n"
    mark = grade(lab, Submission("student", (("work.py", text.encode()),)), SECRET)
    assert mark.points == mark.of


def test_a_case_without_an_answer_does_not_cost_the_others():
    lab = replace(find("occupancy"), parts=find("occupancy").parts[:1])
    text = "def required_shared(side):\n    return 8 * side**2 + 0 // (side - 16)\n"
    mark = grade(lab, Submission("student", (("work.py", text.encode()),)), SECRET)
    assert "1 of 6 cases are wrong. For `side = 16`: Line 2" in mark.rows[0].told
    assert mark.points >= 13
