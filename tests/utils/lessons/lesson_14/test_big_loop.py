"""The loop over tiles: compiled, recorded, and the sentence if there is neither."""

import pytest
from numba import cuda

from gemm_kernels import LADDER
from gpu_xray.compile import NO_COMPILER
from labs import EXERCISES
from tools.records.big_loops import ARCH, variants
from utils.errors import CourseError
from utils.ladder import kept_functions
from utils.lessons import draw_iterations, mine, reads
from utils.lessons.cards import Card
from utils.lessons.lesson_14.big_loop import (
    BigLoop,
    big_loop,
    compiled_big_loop,
    recorded_big_loops,
    resident_warps,
)
from utils.lessons.lesson_14.instruction_timeline import from_load_to_store
from utils.reader_folder import LEDGER

PREFETCH = next(one for one in variants() if one.step.name == "prefetch")


@pytest.fixture
def no_compiler(monkeypatch):
    def refuse(*arguments):
        raise CourseError(NO_COMPILER)

    monkeypatch.setattr("utils.lessons.lesson_14.big_loop.xray", refuse)


@pytest.mark.slow
@pytest.mark.parametrize("variant", variants(), ids=str)
def test_the_record_is_what_the_compiler_makes(variant, compiler):
    assert recorded_big_loops()[ARCH, str(variant)] == compiled_big_loop(variant, ARCH)


@pytest.mark.parametrize("variant", variants(), ids=str)
def test_an_iteration_has_the_multiply_adds_and_loads_of_a_tile(variant):
    loop = recorded_big_loops()[ARCH, str(variant)]
    assert loop.names.count("FFMA") == 8 * 8 * 8
    assert loop.names.count("LDG") == 2
    assert loop.names.count("LDS") == len(loop.reads) == 8 * 4  # of 128 bits


def test_a_loop_that_stores_first_is_cut_after_its_stores():
    names = ("STS", "BAR", "LDG", "FFMA", "BAR")
    assert from_load_to_store(names) == (*names[1:], names[0])
    assert from_load_to_store(("LDG", "STS")) == ("LDG", "STS")
    assert from_load_to_store(("FFMA",)) == ("FFMA",)


def test_a_value_that_is_needed_soon_is_an_early_read():
    assert BigLoop((4, 39, 40, 100), ()).early_reads == 2


def test_without_a_compiler_the_record_takes_its_place(no_compiler):
    assert big_loop(PREFETCH) == recorded_big_loops()[ARCH, str(PREFETCH)]
    assert "627 instructions" in str(draw_iterations(prefetch=PREFETCH))


def test_what_neither_knows_is_replaced_by_a_sentence(no_compiler):
    other = PREFETCH.step.variant(BM=64)
    for said in (draw_iterations(x=other), reads(x=other)):
        assert isinstance(said, Card)
        assert "The lesson goes on" in str(said)


def test_a_kernel_of_the_reader_is_drawn(compiler):
    drawn = draw_iterations(x=EXERCISES["double_buffer"].solution)
    assert "43 instructions, 11 of them" in str(drawn)


def test_a_kernel_that_check_found_right_is_called_the_readers(compiler, tmp_path, monkeypatch):
    monkeypatch.setenv(LEDGER, str(tmp_path / "predictions.json"))
    kept_functions.keep("double_buffer", EXERCISES["double_buffer"].solution)
    drawn = draw_iterations(double_buffer=mine("double_buffer"))
    assert "your double_buffer: 84 instructions" in str(drawn)


@cuda.jit
def without_shared(a, b, c):
    i = cuda.grid(1)
    total = c[0, 0]
    for j in range(a.shape[0]):
        total += a[j, i] * b[i, j]
    c[i, i] = total


@cuda.jit
def without_a_loop(a, b, c):
    c[0, 0] = a[0, 0] * b[0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [without_shared, without_a_loop])
def test_a_kernel_without_tiles_is_replaced_by_a_sentence(kernel, compiler):
    assert "The lesson goes on" in str(draw_iterations(yours=kernel))


def test_warps_are_those_of_the_records_registers():
    double_buffered = LADDER.step("double_buffered")
    assert resident_warps(double_buffered.variant(BM=64, BN=64, BK=8)) == 12
    assert resident_warps(double_buffered.variant(BM=128, BN=128, BK=16)) == 8
