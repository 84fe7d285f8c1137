"""Test the bars of estimates and recorded times on rows with round figures."""

import re

import pytest

from reduce_kernels import LADDER
from utils.lessons.lesson_18.time_bars import draw, longest_of, times_of
from utils.machine.devices import REFERENCE, find
from utils.measuring.kernel_times import ArrayTime
from virtual_gpu.pictures.svg import ORANGE

H200, OTHER = find(REFERENCE), "NVIDIA H100 80GB HBM3"
REDUCE1 = LADDER.step("reduce1").variant(BLOCK=256)


def row(kernel, elements, ms, device=REFERENCE):
    return ArrayTime(device, kernel, elements, ms, ms, ms, 1980, "2026-11-25")


def test_the_rows_are_those_of_the_greatest_length_on_the_first_device():
    rows = [row("a", 256, 1), row("a", 512, 2), row("b", 512, 3), row("a", 1024, 4, OTHER)]
    assert longest_of(rows) == {"a": rows[1], "b": rows[2]}


def test_estimates_grow_with_the_elements_and_a_kernel_without_a_record_has_no_time():
    short, long = (times_of(REDUCE1, [row("reduce0", 2**n, 1.0)]) for n in (20, 21))
    assert short.recorded is None
    assert short.memory == pytest.approx(4 * 2**20 / H200.memory_gb_per_s / 1e6)
    for what in ("memory", "wavefronts", "instructions"):
        assert getattr(long, what) == pytest.approx(2 * getattr(short, what))


def test_the_words_of_the_picture_have_all_times():
    rows = [row("reduce1", 2**20, 1.25)]
    shown, one = draw(rows, my_tree=REDUCE1), times_of(REDUCE1, rows)
    assert one.recorded == 1.25
    for what in ("memory", "wavefronts", "instructions", "recorded"):
        assert f"{what} {getattr(one, what):.2f}\N{NO-BREAK SPACE}ms" in shown.alt
    assert "my_tree: " in shown.alt


def test_the_longest_estimate_is_orange_and_the_time_beyond_it_is_faint():
    rows = [row("reduce1", 2**30, 6.4)]
    drawn = draw(rows, reduce1=REDUCE1).body
    assert drawn.count(ORANGE) == 2  # the bar, and its entry in the legend
    assert drawn.count('opacity="0.35"') == 2


def test_the_parts_of_a_recorded_bar_have_the_colours_of_the_legend():
    rows = [row("reduce1", 2**30, 6.4)]
    drawn = draw(rows, reduce1=REDUCE1).body
    bar = r'<rect x="([\d.]+)"[^>]* width="([\d.]+)"[^>]* fill="currentColor"'
    parts = re.findall(bar, drawn)
    (dark, width), (faint, _), *_ = [tuple(map(float, part)) for part in parts]
    assert faint == pytest.approx(dark + width)  # the parts do not overlap
