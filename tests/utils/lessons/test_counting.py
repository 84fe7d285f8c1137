"""Tests of counts of products, and of estimated and recorded times."""

import pytest

from gemm_kernels import LADDER
from utils.errors import CourseError
from utils.lessons.counting import (
    cache_lines_per_multiply_add,
    count,
    estimated_ms,
    loads_per_multiply_add,
    per_request,
    watch,
)
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import recorded_ms, share_of_library, share_of_peak, times

STRIDED, NAIVE, TILED = map(LADDER.step, ("naive_strided", "naive", "tiled"))


@pytest.fixture(scope="module")
def strided():
    return watch(STRIDED)


def test_lanes_that_go_down_touch_a_sector_and_a_cache_line_each(strided):
    assert per_request(strided, "a") == per_request(strided, "a", "cache_lines") == 32
    assert per_request(strided, "c", kind="store") == 32
    assert per_request(strided, "b") == 1


def test_loads_are_counted_for_each_multiply_add(strided):
    assert loads_per_multiply_add(strided) == 2
    assert cache_lines_per_multiply_add(strided) == 33
    tiled = watch(TILED.variant(TILE=16), "32")
    assert loads_per_multiply_add(tiled) == 2 / 16
    assert loads_per_multiply_add(tiled, "shared") == 2


def test_the_table_has_a_row_for_each_array_and_no_empty_column(strided):
    counts = count(lanes_go_down=strided)
    assert counts.head[1:] == (
        "loads per multiply-add", "sectors per request", "cache lines per request",
    )  # fmt: skip
    assert counts.rows[0] == ("lanes go down, `a`", "1", "32", "32")
    assert "wavefronts per request" in count(tiled=watch(TILED.variant(TILE=8), "8")).head


def test_an_estimate_is_one_cycle_for_each_cache_line(strided):
    device = device_shown()
    cycles = 33 * 64**3 / 32 / device.sms
    assert estimated_ms(strided, "64") == pytest.approx(cycles / device.boost_clock_mhz / 1e3)
    assert estimated_ms(strided, "64x32x64") == estimated_ms(strided, "64") / 2


def test_a_step_has_the_time_of_its_fastest_constants():
    each = [recorded_ms(variant) for variant in TILED.variants()]
    assert recorded_ms(TILED) == min(each)
    assert len(set(each)) == len(each)


def test_the_rate_follows_from_the_recorded_time():
    gflops = 2 * 4096**3 / recorded_ms(NAIVE) / 1e6
    assert share_of_peak(NAIVE) == pytest.approx(gflops / device_shown().peak_gflops, rel=1e-3)


def test_the_share_of_the_library_grows_as_the_time_falls():
    shares = share_of_library(NAIVE) / share_of_library(STRIDED)
    assert shares == pytest.approx(recorded_ms(STRIDED) / recorded_ms(NAIVE), rel=0.02)


def test_the_first_step_is_the_measure():
    slow, fast = times(STRIDED, NAIVE).rows
    assert slow[2] == "1.00×"
    assert float(fast[2][:-1]) == pytest.approx(recorded_ms(STRIDED) / recorded_ms(NAIVE), abs=0.01)


def test_a_missing_record_is_said_with_what_makes_it():
    with pytest.raises(CourseError, match=r"no recorded time of naive at 123×123×123.*--record"):
        recorded_ms(NAIVE, "123")


def test_global_arrays_come_first_and_all_in_alphabetical_order():
    adds_to_c_first = LADDER.step("multi_output_by_column").variant(MULTI=2)
    names = [row[0] for row in count(it=watch(adds_to_c_first, "16x32x4")).rows]
    assert names == ["it, `a`", "it, `b`", "it, `c`"]
    names = [row[0] for row in count(it=watch(TILED.variant(TILE=8), "8")).rows]
    assert names[:2] == ["it, `a`", "it, `b`"]
    assert len(names) == 4
