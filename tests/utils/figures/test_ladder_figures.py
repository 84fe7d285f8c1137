"""Tests of the staircase: a bar per step at one size, in colour if faster than all before it."""

import pandas as pd
import pytest
from matplotlib.colors import to_hex

from tests.utils.figures.example_figures import SLOW_AND_FAST, WITH_LIBRARY, gemm, texts
from utils.errors import CourseError
from utils.figures.ladder_figures import staircase
from utils.figures.look import COLOURS, GREY
from utils.figures.points import climbers, milestones

SPEEDS = {"first": 6690, "tiled": 33450, "a_detour": 20070, "last": 53520}


def bars(figure):
    return {
        row.get_text(): (round(bar.get_width()), to_hex(bar.get_facecolor()))
        for row, bar in zip(figure.axes[0].get_yticklabels(), figure.axes[0].patches)
    }


def test_steps_above_all_before_them_are_in_colour():
    up, down = COLOURS[0], GREY
    assert bars(staircase(gemm(SPEEDS))) == {
        "first": (10, up),
        "tiled": (50, up),
        "a_detour": (30, down),
        "last": (80, up),
    }


def test_the_words_say_how_the_ladder_climbs():
    alt = staircase(gemm(SPEEDS)).alt_text
    assert "climbs from 10.0 % of the peak (first) to 80.0 % (last)" in alt
    assert "tiled 5.0× to 50.0 %, last 1.6× to 80.0 %" in alt


def test_the_library_is_a_line_with_its_share():
    figure = staircase(WITH_LIBRARY)
    # Twice as fast as 5000 and as 20000: the median of both.
    assert "cuBLAS 37.4 %" in texts(figure)
    assert "cuBLAS reaches 37.4 %, and no step more" in figure.alt_text


def test_the_bars_are_at_the_largest_size_that_all_steps_have():
    frame = pd.concat([gemm(SLOW_AND_FAST, [512, 1024]), gemm({"tiled": 25000}, [4096])])
    assert "at 1024" in staircase(frame).alt_text
    assert "at 512" in staircase(frame, size="512").alt_text


def test_a_size_that_nobody_measured_is_refused_with_those_that_are_there():
    with pytest.raises(CourseError, match="measured at 2048: there are 512, 1024, 4096"):
        staircase(WITH_LIBRARY, size="2048")


def test_steps_without_a_common_size_are_refused():
    frame = pd.concat([gemm({"naive": 5000}, [512]), gemm({"tiled": 20000}, [1024])])
    with pytest.raises(CourseError, match="No size was measured for all of naive, tiled"):
        staircase(frame)


def test_milestones_are_the_ends_and_the_greatest_rises_between():
    values = pd.Series({"a": 1, "b": 1.1, "c": 1.05, "d": 5, "e": 6, "f": 6.1})
    assert list(climbers(values).index) == ["a", "b", "d", "e", "f"]
    assert milestones(values, most=4) == ["a", "d", "e", "f"]
