"""Tests of shared-memory wavefronts: by the virtual GPU, by the profiler, and their time."""

import pytest

from gemm_kernels import LADDER
from utils.errors import CourseError
from utils.lessons.counting import watch
from utils.lessons.lesson import device_shown
from utils.lessons.wavefronts import (
    profiled_wavefronts,
    shared_memory_ms,
    wavefronts,
    wavefronts_per_multiply_add,
)

NAIVE, TILED, DYNAMIC = map(LADDER.step, ("naive", "tiled", "tiled_dynamic"))


def test_the_source_asks_for_two_loads_and_a_few_stores():
    assert wavefronts_per_multiply_add(watch(TILED)) == 2 + 2 / 32
    assert wavefronts_per_multiply_add(watch(TILED.variant(TILE=8))) == 2 + 2 / 8
    assert wavefronts_per_multiply_add(watch(NAIVE)) == 0


def test_the_profiler_agrees_where_the_compiler_joins_no_loads():
    assert profiled_wavefronts(DYNAMIC) == wavefronts_per_multiply_add(watch(DYNAMIC))


def test_the_profiler_counts_less_where_it_does():
    assert profiled_wavefronts(TILED) < wavefronts_per_multiply_add(watch(TILED))


def test_what_the_profiler_did_not_count_is_said_in_a_sentence():
    with pytest.raises(CourseError, match="did not count granularity GRAIN=1 TILE=32"):
        profiled_wavefronts(LADDER.step("granularity").variant(TILE=32, GRAIN=1))


def test_a_wavefront_takes_one_cycle_of_its_sm():
    cycles = 1.5 * 64**3 / 32 / device_shown().sms
    assert shared_memory_ms(1.5, "64") == pytest.approx(
        cycles / device_shown().boost_clock_mhz / 1e3
    )
    assert shared_memory_ms(1.5, "64x32x64") == shared_memory_ms(1.5, "64") / 2


def test_the_table_has_both_counts_and_both_times():
    rows = wavefronts(TILED, DYNAMIC).rows
    assert [row[0] for row in rows] == ["tiled", "tiled dynamic"]
    assert rows[0][1:3] == ("2.06", "1.56")
    assert all(cell.endswith("ms") for row in rows for cell in row[3:])
