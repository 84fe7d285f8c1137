"""The section of lesson 04 on copies beside kernels: claims, table and picture, from the record."""

from functools import partial

import pytest

from gemm_kernels.overlap import recorded_times
from tests import quotes
from utils.lessons.lesson_04 import overlap

ROWS = recorded_times()
ONE, TWO = "pinned STREAMS=1 SLICES=1", "pinned STREAMS=2 SLICES=8"
says = partial(quotes.says, "04")


def part_of(name, way=ONE):
    (row,) = (row for row in overlap.of_way(ROWS, way) if row.part == name)
    return row.time_ms


def short_ms(way):
    (row,) = (r for r in ROWS if (r.kernel, r.m, r.part) == (way, 2000, "product"))
    return row.time_ms


def test_the_best_time_follows_from_the_parts_and_is_reached():
    parts = [part_of(name) for name in ("copy_b", "copy_in", "kernel", "copy_out")]
    b, a, kernel, c = (round(ms, 2) for ms in parts)
    first, last = round(a / 8, 2), round(c / 8, 2)
    best = b + first + kernel + last
    recorded = overlap.whole_ms(ROWS, TWO)
    quotes.explains(
        "04.overlap",
        """{} for b, {} ÷ {} = {} for the first slice of a, {} for the kernels, {:.2f} ÷ {} = {} for
        the last slice of c: {} + {} + {} + {} = {:.2f} ms. Recorded: {:.2f} ms.""",
        b, a, 8, first, kernel, c, 8, last, b, first, kernel, last, best, recorded,
    )  # fmt: skip
    assert recorded == pytest.approx(best, rel=0.02)


def test_pageable_memory_gains_nothing_and_slices_have_a_price():
    one, eight = (f"pageable STREAMS={n} SLICES={s}" for n, s in ((1, 1), (2, 8)))
    says(
        "In one piece that product takes {:.1f} ms, in {} slices {:.1f} ms",
        overlap.whole_ms(ROWS, one), 8, overlap.whole_ms(ROWS, eight),
    )  # fmt: skip
    times = [short_ms(way) for way in (ONE, "pinned STREAMS=2 SLICES=4", TWO)]
    says("With {} rows the product takes {:.2f} ms in one piece, {:.2f} ms in {} slices, and "
         "{:.2f} ms in {}", 2000, times[0], times[1], 4, times[2], 8)  # fmt: skip


def test_with_pageable_memory_no_slice_begins_before_the_one_before_has_ended():
    parts = [row for row in overlap.of_way(ROWS, "pageable STREAMS=2 SLICES=8") if row.slice >= 0]
    begins = {row.slice: row.start_ms for row in parts if row.part == "copy_in"}
    ends = {row.slice: row.start_ms + row.time_ms for row in parts if row.part == "copy_out"}
    assert all(begins[number] >= ends[number - 1] - 0.05 for number in range(1, 8))


def test_the_table_has_the_parts_and_the_whole():
    rows = overlap.times_of_parts(ROWS, ONE).rows
    assert [row[0] for row in rows] == [
        "copy b", "copy a", "kernel", "copy c back", "all, as the host sees it"
    ]  # fmt: skip
    assert rows[-1][1] == f"{overlap.whole_ms(ROWS, ONE):.2f}"


def test_the_picture_has_a_bar_for_each_part_of_each_way():
    picture = overlap.draw_streams(ROWS, ONE, TWO)
    bars = picture._repr_html_().count("<rect")
    assert bars >= len(overlap.of_way(ROWS, ONE)) + len(overlap.of_way(ROWS, TWO)) - 2
    assert "pinned, 2 streams, 8 slices: 6.39 ms" in str(picture)
