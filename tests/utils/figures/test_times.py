"""Tests of the charts of times: estimates beside records, growing times, and speedups."""

import re
from itertools import pairwise

import pytest

from utils.figures.times import draw_estimates, draw_gains, draw_growth


def circle_positions(body: str) -> list[float]:
    return [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', body)]


def test_a_ring_and_a_dot_stand_where_the_times_are():
    picture = draw_estimates({"one": (10, 40), "two": (20, 20)}, "title")
    ring, dot, same, same_too = circle_positions(picture.body)[2:]  # the first two are the legend
    assert ring < same == same_too < dot
    # The axis is logarithmic: twice the time is the same distance everywhere.
    assert dot - same == pytest.approx(same - ring, abs=0.11)


def test_estimates_are_told_in_words():
    assert str(draw_estimates({"naive": (16.4, 27.5)}, "Time")) == (
        "Time, in ms. naive: estimate 16.4, recorded 27.5."
    )


def test_the_recorded_times_stand_beside_their_rows():
    body = draw_estimates({"3 slices": (0.497, 0.5018), "6 slices": (0.5, 0.5086)}, "Time").body
    assert re.findall(r">(0\.50\d)<", body) == ["0.502", "0.509"]
    assert ">recorded, ms<" in body


def test_a_recorded_time_keeps_its_zeros_and_its_thousands():
    times = {"round": (30, 36.0156), "long": (200, 275.4), "longer": (900, 1234.5)}
    assert re.findall(r"recorded ([\d.]+)[;.]", draw_estimates(times, "Time").alt) == [
        "36.0", "275", "1234",
    ]  # fmt: skip


def test_each_series_is_divided_by_its_own_first_time():
    picture = draw_growth("columns", (1, 2, 4), {"slow": [5, 10, 15], "fast": [0.2, 0.1, 0.05]})
    assert re.findall(r"×([\d.]+)<", picture.body) == ["3", "0.25"]
    assert "slow: 1.00, 2.00, 3.00; fast: 1.00, 0.50, 0.25" in picture.alt


def test_the_same_factor_is_the_same_distance():
    body = draw_growth("columns", (1, 2, 4), {"slow": [5, 10, 20]}).body
    first, second, third = (float(y) for y in re.findall(r'<circle[^>]*cy="([\d.]+)"', body))
    assert first - second == pytest.approx(second - third, abs=0.11)


def test_labels_of_curves_that_end_together_do_not_touch():
    picture = draw_growth("columns", (1, 2), {"one": [1, 2], "two": [1, 2.01], "three": [1, 1.99]})
    heights = sorted(float(y) for y in re.findall(r'y="([\d.]+)"[^>]*>×', picture.body))
    assert min(b - a for a, b in pairwise(heights)) >= 17
    colours = re.findall(r'style="fill:(#\w+)"[^>]*>×', picture.body)
    assert len(set(colours)) == 3


def test_a_note_stands_below_and_in_the_words():
    picture = draw_growth("columns", (1, 2), {"one": [1, 2]}, "Not recorded yet: two.")
    assert "<p>Not recorded yet: two.</p>" in picture.body
    assert picture.alt.endswith("Not recorded yet: two.")


def test_a_gain_stands_above_1_and_a_loss_below():
    body = draw_gains("Faster", {"256": 1.5, "512": 0.5, "1024": 1.0}).body
    heights = [float(y) for y in re.findall(r'<circle[^>]*cy="([\d.]+)"', body)]
    one = float(re.search(r'd="M24 ([\d.]+)H', body)[1])
    assert heights[0] < one < heights[1]
    assert heights[2] == one
    assert one - heights[0] == pytest.approx(heights[1] - one, abs=0.11)


def test_gains_have_their_numbers_and_are_told_in_words():
    picture = draw_gains("Faster", {"256": 1.294, "512": 1.0})
    assert re.findall(r">(1\.\d\d)<", picture.body) == ["1.29", "1.00"]
    assert str(picture) == "Faster: 1.29 at 256; 1.00 at 512."


def test_a_kernel_without_a_record_has_its_ring_alone():
    picture = draw_estimates({"naive": (16.4, 27.5), "mine": (10.0, None)}, "Time")
    assert picture.alt.endswith("mine: estimate 10, not recorded.")
    assert len(circle_positions(picture.body)[2:]) == 3
