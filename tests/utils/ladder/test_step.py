"""Rules for every step of every ladder, and the values that a step refuses."""

import inspect
from pathlib import Path

import numpy as np
import pytest

import gemm_kernels
import gemm_kernels.cpu
import latency_kernels
import reduce_kernels
import tensor_kernels
from gemm_kernels.naive import STEP as NAIVE
from gemm_kernels.tiled import STEP as TILED
from tests.steps_edited import edited_step
from utils.errors import CourseError
from utils.ladder import ladder
from utils.ladder.ladder import ladder_of
from utils.ladder.shapes import GemmShape
from utils.ladder.step import Launch

LADDERS = [
    package.LADDER
    for package in (
        *(gemm_kernels, gemm_kernels.cpu, reduce_kernels, latency_kernels),
        tensor_kernels,
    )
]
STEPS = [
    pytest.param(step, id=f"{ladder.name}-{step.name}")
    for ladder in LADDERS
    for step in ladder.steps
]


@pytest.mark.parametrize("step", STEPS)
def test_step_file_and_function_have_one_name(step):
    function = step.build(**step.constants()).py_func
    # A step that only puts its arrays elsewhere runs the kernel of the step before it.
    name = step.previous if step.place else step.name
    assert name == function.__name__ == Path(inspect.getfile(function)).stem


@pytest.mark.parametrize("step", STEPS)
def test_a_kernel_file_can_be_read_in_one_sitting(step):
    source = inspect.getsourcefile(step.build(**step.constants()).py_func)
    assert len(Path(source).read_text(encoding="utf-8").splitlines()) <= 175


@pytest.mark.parametrize("step", STEPS)
def test_building_a_variant_twice_gives_the_same_kernel(step):
    assert step.build(**step.constants()) is step.build(**step.constants())


@pytest.mark.parametrize("ladder", LADDERS, ids=lambda ladder: ladder.name)
def test_each_step_follows_one_that_stands_before_it(ladder):
    names = [step.name for step in ladder.steps]
    assert len(set(names)) == len(names)
    for index, step in enumerate(ladder.steps):
        assert step.previous is None or step.previous in names[:index]


@pytest.mark.parametrize("ladder", LADDERS, ids=lambda ladder: ladder.name)
def test_the_sizes_of_a_ladder_can_be_read(ladder):
    assert all(ladder.parse(size) for size in (*ladder.sizes, *ladder.quick, ladder.small))


def test_constants_default_to_the_first_choice():
    assert TILED.constants() == {"TILE": 32}
    assert TILED.constants(TILE=8) == {"TILE": 8}


def test_variants_are_all_combinations_with_the_default_first():
    constants = [variant.constants for variant in TILED.variants()]
    assert constants == [{"TILE": 32}, {"TILE": 16}, {"TILE": 8}]
    assert [variant.constants for variant in NAIVE.variants()] == [{}]


def test_an_unknown_constant_is_refused_with_the_known_ones():
    with pytest.raises(CourseError, match="no constant BLOCK: the constants of this step are TILE"):
        TILED.constants(BLOCK=16)


def test_a_value_that_is_not_offered_is_refused_with_the_offered_ones():
    with pytest.raises(
        CourseError, match="TILE=48 is not offered by tiled: choose one of 32, 16, 8"
    ):
        TILED.constants(TILE=48)


def test_a_misspelt_step_is_refused_with_the_nearest_name():
    with pytest.raises(CourseError, match="no step 'tilde': did you mean tiled"):
        gemm_kernels.LADDER.step("tilde")


def test_a_variant_is_named_as_records_name_it_and_found_by_that_name():
    variant = TILED.variant(TILE=16)
    assert (str(variant), variant.params) == ("tiled TILE=16", "TILE=16")
    assert TILED.named("TILE=16") == variant
    assert NAIVE.named(None) == NAIVE.variant()


def test_variants_that_are_equal_are_one_key():
    assert len({TILED.variant(), TILED.variant(TILE=32), TILED.variant(TILE=8)}) == 2


@pytest.mark.parametrize("step", STEPS)
def test_a_step_belongs_to_its_file_and_to_its_ladder(step):
    assert step.file.STEP is step
    assert ladder_of(step).step(step.name) is step


def test_a_step_of_an_edited_file_knows_that_file():
    edited = edited_step(TILED, "cuda.syncthreads()", "pass", 2)
    assert edited.file is not TILED.file
    assert edited.file.STEP is edited
    assert ladder_of(edited) is gemm_kernels.LADDER


def test_a_grid_covers_the_edge_and_not_a_block_more():
    assert NAIVE.launch(GemmShape(m=9, n=33, k=1)).grid == (2, 2)
    assert NAIVE.launch(GemmShape(m=8, n=32, k=1)).grid == (1, 1)
    assert TILED.launch(GemmShape(m=1, n=17, k=1), TILE=16).grid == (2, 1)


def test_a_block_that_no_device_takes_is_refused():
    with pytest.raises(
        CourseError, match="64×64 has 4096 threads, and no device takes more than 1024"
    ):
        Launch(grid=(1,), block=(64, 64))


def test_a_grid_that_no_device_takes_is_refused():
    with pytest.raises(CourseError, match=r"has 125000 blocks along y.* more than 65535"):
        NAIVE.launch(GemmShape(m=1_000_000, n=1, k=1))


def test_a_step_that_the_device_is_too_old_for_is_refused_with_an_earlier_one(monkeypatch):
    class T4:
        compute_capability = (7, 5)

    monkeypatch.setattr(ladder.cuda, "get_current_device", T4)
    a = np.zeros((4, 4), np.float32)
    with pytest.raises(CourseError, match=r"async_copy needs compute capability 8.0 .* has 7.5"):
        gemm_kernels.run("async_copy", a, a)
    np.testing.assert_array_equal(gemm_kernels.run("warp_tiled", a, a), a)
