"""The dot plot has a dot per repetition, and a labelled bar at the median."""

import re

import pytest

from utils.lessons.lesson_01.dot_plot import LEFT, RIGHT, draw_strips


def across(drawn: str) -> list[float]:
    """Return the x coordinates of the dots."""
    return [float(x) for x in re.findall(r'<circle cx="([\d.]+)"[^>]*r="3.2"', drawn)]


def test_there_is_a_dot_for_each_time_and_one_median():
    drawn = draw_strips("twice", {"a": [1, 2, 30], "b": [4, 5]})
    # The legend has one more dot.
    assert len(across(drawn.body)) == 5 + 1
    assert drawn.body.count("v28") == 2 + 1  # and one in the legend
    assert "a: median 2 ms, 1 ms to 30 ms" in drawn.alt
    assert "b: median 4.5 ms" in drawn.alt


@pytest.mark.parametrize("times", [[0.01, 0.012], [1.0, 1.0], [5e-3, 2e4]])
def test_dots_stand_inside_of_the_axis(times):
    dots = across(draw_strips("x", {"a": times}).body)[1:]
    assert LEFT <= min(dots) <= max(dots) <= RIGHT


def test_the_axis_has_few_numbers_and_at_least_two():
    for least, most in ((1, 1.05), (3, 3.3), (2.2, 4.8), (1, 10), (1, 1e3), (1e-4, 1e6)):
        body = draw_strips("x", {"a": [least, most]}).body
        ticks = len(re.findall(r'text-anchor="middle"', body))
        assert 2 <= ticks <= 5, most


def test_one_time_has_no_median_and_all_have_one_unit():
    drawn = draw_strips("x", {"first": [99.1], "later": [0.043, 0.044]})
    assert drawn.body.count("v28") == 1 + 1
    assert "first: 99.1 ms, once; later: median 0.0435 ms" in drawn.alt
    assert " us" not in drawn.body
