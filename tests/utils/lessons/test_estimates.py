"""Tests of estimates beside records, of growing times, and of what is not recorded."""

import pytest

from gemm_kernels import LADDER
from utils import lessons as course
from utils.errors import CourseError
from utils.lessons.published import published_ms

NAIVE = LADDER.step("naive")


def test_a_row_says_the_cache_lines_the_estimate_and_the_record():
    shown = course.estimates(NAIVE, shapes=("2048", "4096"))
    trace = course.watch(NAIVE)
    assert [row[0] for row in shown.rows] == ["`naive`, 2048", "`naive`, 4096"]
    assert shown.rows[1][1:] == (
        "2",
        f"{course.estimated_ms(trace, '4096'):.3g} ms",
        f"{course.recorded_ms(NAIVE, '4096'):.3g} ms",
    )


def test_the_picture_says_the_same():
    picture = course.draw_estimates({"the naive one": NAIVE})
    assert f"recorded {course.recorded_ms(NAIVE):.3g}." in str(picture)


def test_steps_and_times_grow_beside_each_other():
    variants = [LADDER.step("multi_output").variant(MULTI=n, APART=1) for n in (1, 8)]
    picture = course.draw_growth("columns", (1, 8), {"ours": variants, "told": [2, 3]}, "4096")
    factor = course.recorded_ms(variants[1]) / course.recorded_ms(variants[0])
    assert f"ours: 1.00, {factor:.2f}; told: 1.00, 1.50" in str(picture)


def test_what_is_not_recorded_is_left_out_and_named():
    series = {"ours": [NAIVE, NAIVE], "told": [2, 3]}
    picture = course.draw_growth("columns", (1, 8), series, "333")
    assert "333 yet: ours." in str(picture)
    assert "told: 1.00, 1.50" in str(picture)


def test_published_times_are_found_by_the_elements_per_thread():
    assert published_ms("multi_output", 1) == 6.8601
    assert published_ms("multi_output", 8) == 19.135


def test_a_time_that_nobody_published_is_refused():
    with pytest.raises(CourseError, match="0 times of multi_output with 3 elements"):
        published_ms("multi_output", 3)
