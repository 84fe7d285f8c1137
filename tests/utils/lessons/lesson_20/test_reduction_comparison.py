"""Recorded reductions: a table of rates, and a picture of the parts of their time."""

import re

from reduce_kernels import LADDER
from utils import lessons as course
from utils.lessons.lesson_20.reduction_comparison import parts_of_time, rates


def test_a_rate_is_bytes_over_the_recorded_time():
    shown = rates({"tickets": LADDER.step("reduce9")}, "2^30")
    assert shown.head == ("GB/s", "2³⁰")
    assert [row[0] for row in shown.rows] == ["tickets", "CUB (CuPy)"]
    assert shown.rows[0][1] == "4,684"


def test_the_parts_of_a_time_add_up_to_it():
    step = LADDER.step("reduce9")
    words = parts_of_time(step, "2^22", "2^30").alt
    found = re.findall(r"take ([\d.]+) us: ([\d.]+) us for memory, and ([\d.]+) us", words)
    for shape, one in zip(("2^22", "2^30"), found, strict=True):
        time, memory, rest = map(float, one)
        assert abs(time - 1000 * course.recorded_ms(step, shape)) < 0.01
        assert abs(memory + rest - time) < 0.02
