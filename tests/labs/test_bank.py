"""Tests that every exercise of the bank must pass."""

import inspect
from importlib import import_module

import numpy as np
import pytest

from labs import EXERCISES, check, task
from labs.checking.exercise import KINDS, KernelExercise
from labs.exercises import find
from utils.errors import CourseError

ALL = pytest.mark.parametrize("name", EXERCISES)
KERNELS = pytest.mark.parametrize(
    "name", [name for name, one in EXERCISES.items() if isinstance(one, KernelExercise)]
)
A_SCREEN = 700  # characters


@ALL
def test_a_solution_passes(name):
    verdict = check(name, EXERCISES[name].solution)
    assert verdict.passed, str(verdict)


@KERNELS
def test_a_solution_is_counted_for_every_target(name):
    verdict = check(name, EXERCISES[name].solution)
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
    assert one.lesson.isdigit()
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
def test_shapes_begin_with_one_that_fits_the_blocks_and_end_with_ones(name):
    one = EXERCISES[name]
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
