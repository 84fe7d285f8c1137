"""Tests that every exercise of the bank must pass."""

import inspect
from importlib import import_module

import numpy as np
import pytest

from labs import EXERCISES, check, task
from labs.checking.exercise import KINDS, KernelExercise
from labs.checking.job import nearby, smaller
from labs.exercises import find
from tests.labs.versions import judged
from utils.errors import CourseError
from utils.lessons.files import notebook_of

ALL = pytest.mark.parametrize("name", EXERCISES)
KERNELS = pytest.mark.parametrize(
    "name", [name for name, one in EXERCISES.items() if isinstance(one, KernelExercise)]
)
A_SCREEN = 700  # characters


@ALL
def test_a_solution_passes(name):
    verdict = judged(name, EXERCISES[name].solution_text)
    assert verdict.passed, str(verdict)


@KERNELS
def test_a_solution_is_counted_for_every_target(name):
    verdict = judged(name, EXERCISES[name].solution_text)
    unknown = " ".join(verdict.notes)  # where the compiler is missing
    for target in EXERCISES[name].targets:
        assert (target.what in verdict.counts) != (f": {target.words}." in unknown)


@ALL
def test_a_starter_fails_with_one_cause_that_fits_on_a_screen(name):
    verdict = check(name, EXERCISES[name].starter)
    assert len(verdict.causes) == 1
    assert 40 < len(verdict.causes[0]) < A_SCREEN


@ALL
def test_an_exercise_says_what_it_is(name):
    one = EXERCISES[name]
    assert one.name == name
    assert notebook_of(one.lesson).exists()
    assert one.title
    assert one.text
    assert len(one.hints) >= 2
    assert getattr(one, "kind", "write") in KINDS
    for submission in (one.starter, one.solution):
        if isinstance(submission, list):
            continue  # an order of lines has no parameters
        function = getattr(submission, "py_func", submission)
        assert tuple(inspect.signature(function).parameters) == one.parameters


@KERNELS
def test_shapes_begin_with_one_that_fits_the_blocks_and_end_with_the_smallest(name):
    one = EXERCISES[name]
    assert one.shapes[-1] == tuple(map(min, zip(*one.shapes)))
    if one.vary in (nearby, smaller):  # sizes may be anything
        assert set(one.shapes[-1]) == {1}
    assert len(set(one.shapes)) == len(one.shapes) >= 4
    assert len(one.sizes) == len(one.shapes[0])


@KERNELS
def test_inputs_are_drawn_by_their_seed_and_make_exact_sums(name):
    one = EXERCISES[name]
    first, again, others = (one.inputs(one.shapes[1], seed) for seed in (5, 5, 6))
    for array, same in zip(first, again):
        assert np.array_equal(array, same)
    assert any(not np.array_equal(array, other_array) for array, other_array in zip(first, others))
    right = one.reference(*first)
    assert right.dtype == np.float64
    assert np.array_equal(right, right.astype(np.float32))


@ALL
def test_a_solution_is_not_shown_by_the_task(name):
    shown = task(name)._repr_html_()
    starter = set(_lines(EXERCISES[name].starter_text))
    starter.update(_given(EXERCISES[name]))
    own = [line for line in _lines(EXERCISES[name].solution_text) if line not in starter]
    shown_lines = [line for line in own if line in shown]
    assert not shown_lines


def _given(exercise) -> list[str]:
    """Return the lines that the task itself shows, of an order."""
    return [line.strip() for _, line in getattr(exercise, "listing", ())]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if len(line.strip()) > 8]


@ALL
def test_a_task_holds_its_targets_and_all_hints(name):
    one, card = EXERCISES[name], task(name)
    for goal in one.goals:
        assert goal in card.items
        assert f"\n- {goal.replace('`', '')}\n" in f"{card}\n"
    assert all(goal in card.last for goal in one.usual_goals)
    assert card.last.replace("`", "") in str(card)
    assert card.hints == one.hints
    assert card._repr_html_().count("<details>") == len(one.hints)


def test_files_of_an_exercise_stand_in_its_folder():
    for name in EXERCISES:
        for file in ("exercise", "starter", "solution"):
            assert import_module(f"labs.exercises.{name}.{file}").__doc__


def test_an_unknown_name_is_answered_with_the_nearest_one():
    with pytest.raises(CourseError, match="did you mean 'coalescing'"):
        find("coalesing")
    with pytest.raises(CourseError, match=r"there are .*coalescing"):
        task("x")
    with pytest.raises(CourseError):
        check("coalesing", None)


@KERNELS
def test_main_targets_are_targets_of_the_exercise_and_stated_first(name):
    exercise = EXERCISES[name]
    targets = {one.what: one for one in exercise.targets}
    assert set(exercise.main) <= set(targets)
    main = {targets[what].words for what in exercise.main}
    assert exercise.plain_goals or set(exercise.goals[: len(main)]) == main or not main
    assert "right at any shape" in (*exercise.goals, *exercise.usual_goals) or exercise.plain_goals


def test_a_verdict_lists_the_main_counts_with_their_targets_and_no_others():
    verdict = check("sectors", EXERCISES["sectors"].solution)
    assert verdict.reached == ("sectors per request: 4 (target: at most 4)",)
    assert str(verdict).endswith("\n- sectors per request: 4 (target: at most 4)")
    assert "negative" not in str(verdict)
    assert "<li>sectors per request: 4" in verdict._repr_html_()
    assert verdict.counts["stores per element"] == 1


def test_the_usual_targets_stand_in_one_line_below_those_of_the_task():
    card = task("sectors")
    assert card.items[0] == "at most 4 sectors per request"
    assert card.last == (
        "Usual targets: right at any shape, no index below 0, one store per element, no float64."
    )
    shown = card._repr_html_()
    assert shown.index("</ul>") < shown.index("Usual targets") < shown.index("<details>")


def test_the_first_task_uses_no_word_of_later_lessons():
    for word in ("request", "lane", "warp", "sector"):
        assert word not in str(task("scale"))
