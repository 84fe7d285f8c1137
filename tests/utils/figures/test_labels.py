"""Tests that labels at the ends of lines and beside points overlap neither each other nor lines."""

import numpy as np
import pytest

from tests.utils.figures.example_figures import labels, touching
from utils.errors import CourseError
from utils.figures.labels import label_ends, label_points, spread
from utils.figures.look import COLOURS, INK, new_figure, style

ENDS = {f"step_{i}": (1, 0.5, COLOURS[0]) for i in range(7)}


@pytest.fixture
def empty_figure():
    """Return a figure with empty axes, into which a test draws something wrong."""
    with style():
        figure = new_figure("A title", "a device", height=3)
        figure.add_subplot()
    return figure


@pytest.mark.parametrize("write", [label_ends, lambda *of: label_points(*of, [])])
def test_a_seventh_label_is_refused_with_a_sentence(empty_figure, write):
    with pytest.raises(CourseError, match="at most 6 labelled series, and these are 7"):
        write(empty_figure.axes[0], ENDS)


def test_labels_at_one_place_are_written_apart(empty_figure):
    axes = empty_figure.axes[0]
    ends = dict(list(ENDS.items())[:3])
    label_ends(axes, ends)
    label_points(axes, {f"at {name}": end for name, end in ends.items()}, [([0, 1], [0.5, 0.5])])
    assert len(labels(empty_figure)) == 6
    assert touching(empty_figure) == []


def test_a_label_beside_a_point_leaves_the_line_free(empty_figure):
    axes = empty_figure.axes[0]
    label_points(axes, {"on the line": (0.5, 0.5, INK)}, [([0, 1], [0.5, 0.5])])
    (label,) = labels(empty_figure)
    box, height = label.get_window_extent(), axes.transData.transform((0.5, 0.5))[1]
    assert not box.y0 <= height <= box.y1


def test_labels_keep_their_distance_and_stay_in_the_axes():
    heights = spread([0.0, 0.01, 0.02, 0.5, 0.99, 1.0], gap=0.05)
    assert np.diff(heights).min() == pytest.approx(0.05)
    assert heights[0] >= 0
    assert heights[-1] <= 1
    assert heights[3] == 0.5
