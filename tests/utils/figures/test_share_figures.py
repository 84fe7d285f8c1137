"""Tests of the lines of a share of the peak, and of the crosses for the results of others."""

import pytest

from tests.utils.figures.example_figures import CROSSES, SHARES, WHERE, labels, texts
from utils.errors import CourseError
from utils.figures.look import COLOURS, INK
from utils.figures.share_figures import share_lines


def test_a_cross_has_the_colour_of_its_line_and_no_label():
    marks = [*CROSSES, (300, 0.5, "another device")]
    figure = share_lines(SHARES, "threads", "Chains", WHERE, marks)
    crosses = [line.get_color() for line in figure.axes[0].get_lines() if line.get_marker() == "x"]
    assert crosses == [COLOURS[1], COLOURS[0], INK]
    assert {text.get_text() for text in labels(figure)} == {"ILP 1", "ILP 4"}


def test_the_words_say_how_far_each_line_rises():
    alt = share_lines(SHARES, "threads", "Chains", WHERE, CROSSES).alt_text
    assert "ILP 4 rises from 23% at 32 to at most 96% at 256" in alt
    assert "Crosses: ILP 4 at 192, 100%" in alt


def test_a_share_above_the_peak_is_refused():
    with pytest.raises(CourseError, match="of the peak, which no kernel reaches"):
        share_lines(SHARES.assign(share=1.1), "threads", "Chains", WHERE)


def test_ticks_and_notes_stand_where_they_are_wanted():
    figure = share_lines(
        SHARES, "threads", "Chains", WHERE, ticks=[32, 576], notes=[(576, 0.5, "576 threads")]
    )
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["32", "576"]
    assert ("576 threads", (576, 50)) in [(text.get_text(), text.xy) for text in axes.texts]


def test_the_axis_and_the_words_name_what_100_percent_is():
    own = share_lines(SHARES, "threads", "Chains", WHERE)
    assert "of the data sheet's peak" in texts(own)
    assert own.alt_text.startswith("Share of the data sheet's peak against threads:")
    other = share_lines(SHARES, "threads", "Chains", WHERE, yardstick="the speed of a loop")
    assert "of the speed of a loop" in texts(other)
    assert "the data sheet's peak" not in other.alt_text
