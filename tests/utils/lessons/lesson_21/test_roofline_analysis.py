"""Lesson 21's tables and figures come from records alone and name what is missing."""

import pytest

from gemm_kernels import LADDER
from utils import lessons as course
from utils.errors import CourseError
from utils.lessons.lesson_21 import roofline_analysis
from utils.lessons.lesson_21.counted_steps import counts_of, recorded_counts

NAIVE = LADDER.step("naive")


def test_counts_are_found_by_step_by_variant_and_by_name():
    by_name = recorded_counts()["naive"]
    assert counts_of(NAIVE) == counts_of(NAIVE.variant()) == counts_of("naive") == by_name


def test_a_step_that_was_not_counted_is_named():
    with pytest.raises(CourseError, match="reduce0 is not among the counted steps"):
        counts_of("reduce0")
    with pytest.raises(CourseError, match="tiled TILE=8 is not among"):
        counts_of(LADDER.step("tiled").variant(TILE=8))


def test_the_samples_are_cut_to_the_loop():
    assert roofline_analysis._busy_stretch([0.0, 5e-4, 0.2, 0.0, 0.7, 1e-3, 2e-4]) == (2, 5)
    assert "the most samples: FFMA 64%" in str(course.draw_samples(NAIVE))


def test_a_roofline_labels_what_it_is_told_to():
    alt_text = course.draw_roofline(LADDER, named=("tiled", "ilp")).alt_text
    assert "tiled reaches" in alt_text
    assert "ilp reaches" in alt_text
    assert "naive reaches" not in alt_text


def test_the_busiest_resource_needs_the_most_time():
    name, ms = roofline_analysis.busiest(LADDER.step("tiled"))
    assert name == "the pipe"
    assert 0 < ms < course.recorded_ms(LADDER.step("tiled"))
    assert "naive: estimate 16.7, recorded 27.5" in str(course.draw_busiest(NAIVE))


def test_half_of_the_wavefronts_help_only_where_the_pipe_is_busiest():
    assert course.saved_by_half_the_wavefronts(LADDER.step("register_blocked")) == 0
    assert course.saved_by_half_the_wavefronts(LADDER.step("register_blocked_1d")) > 0.5
