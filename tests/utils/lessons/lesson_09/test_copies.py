"""The pictures of copies show what is recorded."""

import re

from latency_kernels.hiding import curves
from utils.lessons.lesson_09 import copies
from utils.machine import devices

H200 = devices.find("H200")
FRAME = curves.recorded(H200)


def test_the_marked_points_have_their_words():
    picture = copies.draw(FRAME, 6429, ("1 float", 2048), ("8 float4", 160))
    assert "2,048 threads, 1 float: 67.0 %" in picture.alt
    assert "160 threads, 8 float4: 77.9 %" in picture.alt
    assert picture.body.count('r="7"') == 2


def test_each_copy_has_a_point_per_number_of_threads():
    body = copies.draw(FRAME, 6429).body
    copied = FRAME[FRAME["what"].isin(copies.SHOWN)]
    assert body.count('r="2.6"') == len(copied[["what", "threads_per_sm"]].drop_duplicates())


def test_a_bar_is_as_long_as_its_value():
    times = copies.recorded_times()
    body = copies.draw_times(times).body
    widths = [float(width) for width in re.findall(r'width="([\d.]+)" height="21"', body)]
    sectors, copy = widths
    assert abs(copy / sectors - times["sectors"] / times["copy"]) < 0.01


def test_iterations_are_compared_with_a_load_alone():
    picture = copies.draw_iterations(FRAME, H200, ("1 float", 128), ("1 float", 2048))
    assert "1 float, 2,048 threads 1,332 cycles" in picture.alt
    assert "a load alone: 700 cycles" in picture.alt
