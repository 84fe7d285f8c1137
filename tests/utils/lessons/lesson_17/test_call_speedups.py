"""The scatter plot of calls has dots in place, and a bar at the mean of four dots or more."""

import re

from utils.lessons.lesson_17.call_speedups import BOTTOM, LEFT, RIGHT, TOP, draw_speedups
from virtual_gpu.pictures.svg import GREEN, ORANGE

POINTS = {
    "rows": [(2e6, 2.0), (5e6, 0.5), (2e6, 1.0), (3e6, 1.0), (3e8, 1.0)],
    "others": [(4e6, 1.5)] * 4,
}


def test_dots_stand_inside_of_the_axes_and_faster_is_higher():
    body = draw_speedups("Title", POINTS).body
    dots = [tuple(map(float, one)) for one in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', body)]
    dots = [dot for dot in dots if dot[1] != 49]  # those of the legend
    assert len(dots) == 9
    assert all(LEFT <= x <= RIGHT and TOP <= y <= BOTTOM for x, y in dots)
    assert dots[0][1] < dots[4][1] < dots[1][1]
    assert dots[0][0] < dots[1][0] < dots[4][0]


def test_a_bar_stands_at_the_geometric_mean():
    picture = draw_speedups("Title", POINTS)
    assert "rows, geometric means by operations: 10^6 to 10^7: 1.00." in picture.alt
    assert "others, geometric means by operations: 10^6 to 10^7: 1.50." in picture.alt
    bars = [
        re.findall(rf'd="M[\d.]+ ([\d.]+)H[\d.]+" stroke="{colour}"', picture.body)
        for colour in (GREEN, ORANGE)
    ]
    assert list(map(len, bars)) == [1, 1]
