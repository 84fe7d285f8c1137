"""In the picture of ratios, a faster kernel is higher, and the last kernel has its numbers."""

import re

from utils.lessons.lesson_17.cube_ratios import BOTTOM, LEFT, RIGHT, TOP, draw_ratios

SERIES = {"slow": {256: 0.2, 512: 0.4}, "fast": {256: 1.02, 512: 1.12}}


def test_dots_are_inside_of_the_axes_and_faster_is_higher():
    body = draw_ratios("Title", SERIES).body
    dots = [
        tuple(map(float, one)) for one in re.findall(r'cx="([\d.]+)" cy="([\d.]+)" r="3.5"', body)
    ]
    assert len(dots) == 4
    assert all(LEFT <= x <= RIGHT and TOP <= y <= BOTTOM for x, y in dots)
    assert dots[0][1] > dots[1][1] > dots[2][1] > dots[3][1]


def test_the_last_kernel_has_its_ratios_as_numbers():
    picture = draw_ratios("Title", SERIES)
    assert ">1.02</text>" in picture.body
    assert ">0.4</text>" not in picture.body
    assert "slow: 0.20 at 256, 0.40 at 512." in picture.alt
