"""The pictures of lesson 04 on copies beside kernels have the recorded times."""

import pytest

from gemm_kernels.overlap import recorded_times
from labs import EXERCISES
from utils.lessons.lesson_04 import overlap

ROWS = recorded_times()
ONE, FOUR = overlap.sliced_way(1), overlap.sliced_way(8)
PAGEABLE = "pageable STREAMS=4 SLICES=8"


def test_with_pageable_memory_no_slice_begins_before_the_one_before_has_ended():
    parts = [row for row in overlap.of_way(ROWS, PAGEABLE) if row.slice >= 0]
    begins = {row.slice: row.start_ms for row in parts if row.part == "copy_in"}
    ends = {row.slice: row.start_ms + row.time_ms for row in parts if row.part == "copy_out"}
    assert all(begins[number] >= ends[number - 1] - 0.05 for number in range(1, 8))


def test_the_picture_has_a_bar_for_each_part_of_each_way():
    picture = overlap.draw_streams(ROWS, ONE, FOUR)
    bars = picture._repr_html_().count("<rect")
    assert bars >= len(overlap.of_way(ROWS, ONE)) + len(overlap.of_way(ROWS, FOUR)) - 2
    assert "pinned memory, in one piece: 9.04 ms" in picture.alt


@pytest.mark.parametrize("m", [overlap.ROWS, overlap.FEW_ROWS])
def test_the_estimates_stand_beside_the_recorded_times(m):
    picture = overlap.draw_estimates(ROWS, EXERCISES["sliced_time"].solution, m)
    for slices in overlap.SLICES:
        ms = overlap.whole_ms(ROWS, overlap.sliced_way(slices), m)
        assert f"{slices} slice" in picture.alt
        assert f"{ms:.2f} ms</text>" in picture._repr_html_()
