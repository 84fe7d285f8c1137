"""Check the claims of lesson 02 against counts, machine code, records and sources."""

from functools import cache
from itertools import pairwise

import pytest
from numba import njit

from gemm_kernels.cpu import LADDER
from utils import lessons as course
from utils.lessons.code import show_change
from utils.lessons.recorded import CPU
from utils.machine.processors import TABLE
from utils.measuring import records
from utils.paths import ROOT

NAIVE, REORDERED = LADDER.step("naive"), LADDER.step("loop_reordered")
PARALLEL = LADDER.step("naive_parallel")
SIZES = ("64", "128", "256", "512", "1024", "2048")
CORE = 3.95 * 2 * 16 * 2
WORKLOAD = "2000x600x2000"
followed = cache(course.follow)
TUNING = (ROOT / "gemm_kernels/cpu/tuning/TUNING.md").read_text("utf-8")


def gflops(step, shape: str) -> float:
    size = LADDER.parse(shape)
    return size.flops / course.recorded_ms(step, shape) / 1e6


def faster(shape: str, slow=NAIVE, fast=REORDERED) -> float:
    return course.recorded_ms(slow, shape) / course.recorded_ms(fast, shape)


def test_each_multiply_add_brings_a_cache_line_and_then_16_times_fewer_come():
    down, along = (
        course.cache_misses(followed(step, "1x16x64"), 32) for step in (NAIVE, REORDERED)
    )
    assert down == {"a": 4 * 16, "b": 64 * 16, "c": 16}
    assert along == {"a": 4, "b": 64, "c": 1}
    assert sum(down.values()) == 16 * sum(along.values())


def test_the_first_cache_has_768_cache_lines_and_sets_of_12():
    assert "Zen 5" in TUNING
    assert "48 KiB L1, 1 MiB L2" in TUNING
    assert 48 * 1024 // 64 == 768 == 64 * 12
    assert 64 * 64 * 4 <= 32 * 1024  # all of b, at 64


def test_the_change_carries_its_two_sentences():
    change = show_change(NAIVE, REORDERED, whole=True).data
    assert "for row in range(m)" in change
    assert "must begin at zero" in change
    assert "walked along a row" in change


def test_the_factor_grows_with_the_size_here_and_in_the_source():
    here = [faster(size) for size in SIZES]
    assert here == sorted(here)
    there = [
        course.published_gflops("loop_reordered", size) / course.published_gflops("naive", size)
        for size in (64, 128, 256, 512, 1024)
    ]
    assert there == sorted(there)


def test_two_reasons_would_make_52_and_the_record_has_107():
    assert f"{faster('64'):.1f}" == "3.2"  # all of b fits
    assert round(16 * faster("64")) == 52
    assert round(faster("1024")) == 107


def test_vectors_are_made_of_the_reordered_loop_alone():
    assert course.vector_loop(NAIVE) == ""
    kinds = course.multiplications(NAIVE, REORDERED)
    assert set(kinds.rows[0][2:]) == {"0"}
    assert "0" not in kinds.rows[1][1:]  # wide vectors, a shorter one, single floats
    loop = course.vector_loop(REORDERED)
    if "%" in loop:  # x86
        assert kinds.rows[0][1] == "9"
        assert loop.count("vmulps") == loop.count("vaddps") == loop.count("vmovups") > 0
        assert "vfm" not in loop


def test_the_recorded_core_has_two_units_of_16_floats_and_that_clock():
    assert "between 3.7 and 3.95 GHz" in TUNING
    assert "Zen 5,2,2," in TABLE.read_text("utf-8")
    best = records.measured(CPU, "cpu")
    best = best[~best["step"].str.contains("parallel")]
    assert (best["gflops"] < CORE).all()
    assert 2.5 * 2 * 16 * 2 == 160
    slips = records.published("cpu_peak").query("instruction_set == 'AVX-512'")
    assert list(slips["peak_gflops_per_core"]) == [80, 160]
    assert slips["note"].str.contains("contradicts itself").all()


def test_the_sources_program_waits_and_executes_more():
    one, eight = (
        course.claimed(f"ten {kind} products, whole program") for kind in ("sequential", "parallel")
    )
    alone, shared = (
        course.claimed(f"ten {kind} products: instructions per clock")
        for kind in ("sequential", "parallel")
    )
    assert f"{one:.1f} and {eight:.1f}" == "30.5 and 14.7"
    assert (alone, shared) == (2.38, 0.77)
    notes = records.published("gemm_cpu")["note"].str.cat(sep=" ")
    assert "7.86 CPUs busy" in notes
    assert "2000x2000 by 2000x600" in notes
    assert "900x900 by 900x600" in notes
    assert "its text has 6000 columns" in notes
    assert "shares its variable sum" in notes


def test_one_core_with_the_right_order_beats_both_with_the_wrong_one():
    assert "2 cores" in TUNING
    assert faster(WORKLOAD, PARALLEL, REORDERED) > 10
    assert f"{faster(WORKLOAD, NAIVE, PARALLEL):.2f}" == "1.65"
    assert faster(WORKLOAD) < faster("1024")


def test_the_curves_rise_and_fall_as_they_are_told():
    naive, reordered = ([gflops(step, size) for size in SIZES] for step in (NAIVE, REORDERED))
    assert naive == sorted(naive, reverse=True)
    falls = [before / after for before, after in pairwise(naive)]
    assert min(falls[0], *falls[3:]) > max(falls[1:3])
    assert reordered[:4] == sorted(reordered[:4])
    assert reordered[3:] == sorted(reordered[3:], reverse=True)
    assert reordered[-1] / CORE == pytest.approx(0.1, abs=0.005)


def test_b_passes_at_less_than_half_the_rate_when_it_is_far_away():
    near, far = (int(size) ** 3 * 4 / course.recorded_ms(REORDERED, size) for size in SIZES[3::2])
    assert far < near / 2
    assert 512 * 512 * 4 == 2**20
    assert 2048 * 2048 * 4 == 16 * 2**20


@njit
def k_outermost(a, b, c):
    c[:, :] = 0
    for i in range(a.shape[1]):
        for row in range(c.shape[0]):
            for col in range(c.shape[1]):
                c[row, col] += a[row, i] * b[i, col]


@pytest.mark.slow
def test_exercise_1_brings_four_times_as_many_cache_lines_and_most_are_of_c():
    inside, outside = (
        course.cache_misses(followed(one, "16x16x4"), 8) for one in (REORDERED, k_outermost)
    )
    assert 4 < sum(outside.values()) / sum(inside.values()) < 4.5
    assert inside["c"] == 16
    assert outside["c"] == 16 * (4 + 1)  # once for each term, and once for the zeros
    assert outside["a"] > inside["a"]
    assert outside["b"] == inside["b"]


def test_exercise_2_a_column_of_128_does_not_stay_and_one_of_64_does():
    def can_stay(words_in_a_row: int, rows: int) -> int:
        return 12 * len({row * words_in_a_row * 4 // 64 % 64 for row in range(rows)})

    assert can_stay(1024, 1024) == 12
    assert can_stay(600, 2000) == 768
    assert can_stay(64, 64) == 192
    assert can_stay(128, 128) == 96
    assert round(gflops(NAIVE, "1024"), 2) == 0.45
    assert round(gflops(NAIVE, WORKLOAD)) == 2


def test_exercise_3_joins_the_instructions_and_leaves_the_loads():
    joined = njit(fastmath={"contract"})(REORDERED.variant().kernel.py_func)
    before, after = course.vector_loop(REORDERED), course.vector_loop(joined)
    if "%" in before:  # x86
        assert "vfmadd" in after
        assert "vaddps" not in after
        assert stores(before) == stores(after) > 0


def stores(code: str) -> int:
    """Count the instructions whose last operand, the target, is in memory."""
    return sum(line.rstrip().endswith(")") for line in code.splitlines())
