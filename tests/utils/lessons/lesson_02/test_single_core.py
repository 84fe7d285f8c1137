"""Cache lines by a small model of a cache, and the machine code of both loops, on one core."""

from dataclasses import replace

import pytest
from numba import njit

from gemm_kernels.cpu import LADDER
from gemm_kernels.cpu.tuning.peak import Peak
from gpu_xray import assembly
from labs.exercises import find
from utils.errors import CourseError
from utils.lessons.lesson_02 import single_core
from utils.lessons.lesson_02.single_core import (
    NO_VECTORS,
    cache_misses,
    count_misses,
    faster_by_size,
    follow,
    multiplications,
    peak_of_core,
    time_here,
    vector_loop,
)
from utils.lessons.published import claimed, published_gflops
from utils.lessons.recorded import CPU, one_thread, recorded_ms, times
from utils.measuring.timing import Timing

NAIVE, REORDERED = LADDER.step("naive"), LADDER.step("loop_reordered")
# One row of a; a column of b has 8 words in 8 cache lines, a row of b is 2 cache lines.
SHAPE, WORK = "1x32x8", 32 * 8


@pytest.fixture(scope="module")
def down():
    return follow(NAIVE, SHAPE)


@pytest.fixture(scope="module")
def along():
    return follow(REORDERED, SHAPE)


def test_a_cache_that_is_large_enough_brings_each_cache_line_once(down, along):
    once = {"a": 1, "b": 16, "c": 2}
    assert cache_misses(down, lines=100) == once
    assert cache_misses(along, lines=100) == once


def test_a_cache_smaller_than_a_column_brings_b_for_each_multiply_add(down, along):
    assert cache_misses(down, lines=8)["b"] == WORK
    assert cache_misses(along, lines=8)["b"] == 16


def test_what_was_used_least_recently_goes_first(down):
    # 8 cache lines of b, one of a, one of c: ten are enough, nine are not.
    assert cache_misses(down, lines=10)["b"] == 16
    assert cache_misses(down, lines=9)["b"] > 16


def test_the_table_has_a_row_for_each_function(down, along):
    text = str(count_misses(lines=8, naive=down, loop_reordered=along))
    assert "256 multiply-adds, into a cache of 8" in text
    assert [line.split()[0] for line in text.splitlines()[2:]] == ["naive", "loop_reordered"]


def test_a_product_too_large_to_be_kept_is_refused(monkeypatch):
    monkeypatch.setattr(single_core, "MOST_EVENTS", 50)
    with pytest.raises(CourseError, match="follow a smaller product"):
        cache_misses(follow(NAIVE, SHAPE))


def test_the_compiler_makes_vectors_of_the_reordered_loop_alone():
    counts = {
        step.name: assembly.multiplications(single_core._machine_code(step))
        for step in (NAIVE, REORDERED)
    }
    assert set(counts["naive"]) == {1}
    assert max(counts["loop_reordered"]) >= 4
    assert "at once" in str(multiplications(NAIVE, REORDERED))
    assert vector_loop(NAIVE) == NO_VECTORS
    assert vector_loop(REORDERED)


@njit
def reordered_by_a_reader(a, b, c):
    c[:, :] = 0
    for row in range(c.shape[0]):
        for i in range(a.shape[1]):
            for col in range(c.shape[1]):
                c[row, col] += a[row, i] * b[i, col]


def test_a_function_of_the_readers_is_followed_and_looked_into_like_a_step(along):
    assert cache_misses(follow(reordered_by_a_reader, SHAPE), 8) == cache_misses(along, 8)
    assert "reordered_by_a_reader" in str(multiplications(NAIVE, reordered_by_a_reader))
    assert vector_loop(reordered_by_a_reader)


def test_plain_python_is_refused_by_its_name():
    with pytest.raises(CourseError, match=r"reordered_by_a_reader is not a CPU function .*@njit"):
        vector_loop(reordered_by_a_reader.py_func)


def test_functions_are_timed_here_and_the_first_is_what_they_are_compared_with():
    head, *rows = str(time_here(NAIVE, reordered_by_a_reader, shape="17x19x23")).splitlines()[1:]
    assert head.split() == ["median", "shortest", "…", "longest", "faster"]
    assert [row.split()[0] for row in rows] == ["naive", "reordered_by_a_reader"]
    assert rows[0].endswith("1.0×")
    assert "faster" not in str(time_here(REORDERED, shape="8"))


def test_factors_stand_by_size_and_a_dash_where_nothing_is_recorded():
    rows = {row[0]: row[1:] for row in faster_by_size(NAIVE, REORDERED).rows}
    assert rows["1024"] == ("107×", "31×")
    assert rows["2048"] == ("134×", "–")


def test_a_peak_is_shown_term_by_term_also_where_little_is_known(monkeypatch):
    known = Peak(lanes=8, clock_ghz=4.0, fma_units=2, measured=126.0)
    text = str(peak_of_core([known]))
    assert all(term in text for term in ("AVX2", "4.00 GHz", "128 GFLOP/s", "126 GFLOP/s"))
    assert "run this cell again" in str(peak_of_core([replace(known, measured=129.0)]))
    assert "not known" in str(peak_of_core([replace(known, fma_units=None)]))
    assert str(peak_of_core([])) == single_core.processors.current().sentence


def test_multiplications_are_counted_by_their_floats():
    code = """
\tvmulss\t(%rbp), %xmm1, %xmm1
\tvmulps\t-96(%rsi,%r8,4), %ymm0, %ymm1
\tvfmadd213ps\t(%rbp), %zmm0, %zmm1
\tmulps\t%xmm1, %xmm0
\tvaddps\t(%rbp), %ymm1, %ymm1
\timulq\t%rax, %rbx
\tfmul\tv1.4s, v2.4s, v0.s[0]
\tfmla\tv1.4s, v2.4s, v0.4s
\tfmul\ts0, s1, s2
\tfmadd\ts0, s1, s2, s3
"""
    assert assembly.multiplications(code) == {1: 3, 8: 1, 16: 1, 4: 3}


def test_the_vector_loop_is_the_one_with_most_vectors():
    code = """
one:
\tvmulss\t(%rbp), %xmm1, %xmm1
\tvmulss\t(%rbp), %xmm1, %xmm1
two:
\tvmulps\t(%rbp), %ymm1, %ymm1
\tjne\ttwo
\tretq
"""
    assert assembly.vector_loop(code).strip() == "vmulps\t(%rbp), %ymm1, %ymm1\n\tjne\ttwo"


def test_records_of_the_cpu_are_those_of_the_one_processor():
    text = str(times(NAIVE, REORDERED, shape="1024"))
    assert f"recorded on one {CPU}" in text
    assert "GFLOP/s" in text
    assert "4.8 s" in text
    assert "107×" in text
    assert "1.00×" in text
    assert recorded_ms(NAIVE, "1024") == pytest.approx(4803.44)


def test_one_core_has_an_efficiency_and_a_peak_that_the_reader_gives():
    frame = one_thread(["naive"], peak=100)
    assert set(frame["step"]) == {"naive"}
    assert (frame["efficiency"] == frame["gflops"] / 100).all()


def test_published_rates_and_claims_are_found_once_or_refused():
    assert published_gflops("loop_reordered", 1024) == 10.79
    assert claimed("ten parallel products: instructions per clock") == 0.77
    with pytest.raises(CourseError, match="0 rates of naive at 63"):
        published_gflops("naive", 63)
    with pytest.raises(CourseError, match="0 claims read 'the moon'"):
        claimed("the moon")


def test_four_sums_are_shown_beside_one_with_instructions_and_times():
    solution = find("partial_sums").solution
    instructions, times, *_ = str(single_core.beside_one_sum(solution)).split("\n\n")
    assert "partial_sums" in instructions
    assert "64×1×4096" in times


@pytest.mark.parametrize(("four", "cards"), [(2.0, 1), (0.5, 0)])
def test_four_sums_that_are_not_faster_get_a_sentence_about_the_head_of_the_loop(
    four, cards, monkeypatch
):
    timings = [Timing(ms, ms, ms, 7, 1) for ms in (1.0, four)]
    monkeypatch.setattr(single_core, "_time_kernels", lambda kernels, shape: timings)
    shown = str(single_core.beside_one_sum(find("partial_sums").solution))
    assert shown.count("not clearly faster") == shown.count("range(0, k - k % 4, 4)") == cards
