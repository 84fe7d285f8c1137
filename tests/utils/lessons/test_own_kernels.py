"""The reader's own kernels as steps: what check found right goes on in the lesson."""

from dataclasses import replace

import pytest
from numba import cuda

from labs import EXERCISES, check
from utils import lessons as course
from utils.errors import CourseError
from utils.ladder import kept_functions
from utils.ladder.ladder import ladder_of
from utils.lessons.own_kernels import is_mine, of_kernel, twins
from utils.reader_folder import LEDGER


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv(LEDGER, str(tmp_path / "predictions.json"))


@cuda.jit
def scale(x, factor, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * factor


@cuda.jit
def unguarded(x, factor, out):
    i = cuda.grid(1)
    out[i] = x[i] * factor


@pytest.mark.parametrize("name", sorted(twins()))
def test_the_twin_of_an_exercise_is_launched_as_the_exercise(name):
    twin, exercise = twins()[name], EXERCISES[name]
    assert twin.lesson == exercise.lesson
    kept_functions.keep(name, exercise.solution)
    variants, ladder = course.mine(name).step.variants(), ladder_of(twin.step)
    for shape in exercise.shapes:
        at = ladder.parse("x".join(map(str, shape)))
        launch = exercise.launch(shape) if ladder.on_gpu else None
        assert launch in [variant.launch(at) for variant in variants]


@pytest.mark.parametrize("name", sorted(twins()))
def test_the_solution_of_an_exercise_is_a_step_that_is_right(name):
    kept_functions.keep(name, EXERCISES[name].solution)
    own = course.mine(name)
    assert is_mine(own)
    assert not is_mine(twins()[name].variant)
    # Not at a shape of the ladder: `wide_tiles` takes only whole tiles.
    shape = "x".join(map(str, EXERCISES[name].shapes[0]))
    assert not course.watch(own, shape).findings


def test_a_step_that_is_named_as_its_own_previous_has_none_before_it():
    twin = twins()["four_chains"]
    assert twin.previous == twin.step.name
    assert twin.before is None
    assert replace(twin, previous="").before.step.name == "naive"


def test_a_right_kernel_is_kept_and_a_wrong_one_does_not_replace_it():
    assert check("scale", scale).passed
    assert not check("scale", unguarded).passed
    assert "if i < x.size" in kept_functions.kept_text("scale")
    assert course.mine("scale").py_func.__name__ == "scale"


def test_without_a_right_kernel_one_sentence_says_what_to_do():
    with pytest.raises(CourseError, match=r'run check\("tree", …\)'):
        course.mine("tree")


def test_a_kept_text_that_cannot_be_executed_is_one_sentence():
    kept_functions.keep("tree", EXERCISES["tree"].solution)
    kept_functions.file_of("tree").write_text("def tree(:")
    with pytest.raises(CourseError, match=r"cannot be executed .* run its check again"):
        course.mine("tree")
    assert "cannot be executed" in str(course.compare("tree"))


def test_a_kernel_that_check_found_right_stands_for_its_step():
    tree = EXERCISES["tree"].solution
    with pytest.raises(CourseError, match="`tree` is no step, and a step is needed"):
        course.blocks(mine=tree)
    kept_functions.keep("tree", tree)
    assert of_kernel(tree) == course.mine("tree")
    assert str(course.blocks(mine=tree)) == str(course.blocks(mine=course.mine("tree")))


def test_the_same_text_is_the_same_step_so_its_counts_are_made_once():
    kept_functions.keep("tree", EXERCISES["tree"].solution)
    assert course.mine("tree") == course.mine("tree")
    assert course.watch(course.mine("tree"), "512") is course.watch(course.mine("tree"), "512")


def test_what_cannot_be_kept_is_said_and_the_verdict_stays(monkeypatch):
    def keep(name, function):
        raise CourseError("`scale` uses `table`, a ndarray.")

    monkeypatch.setattr(kept_functions, "keep", keep)
    verdict = check("scale", scale)
    assert verdict.passed
    assert verdict.notes[-1] == "It is not kept for later cells: `scale` uses `table`, a ndarray."
