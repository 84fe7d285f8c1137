"""Tests of the map of ratios: each product is in one cell, whose colour says who is faster."""

import pytest
from matplotlib.colors import to_hex

from utils.figures.ratio_map import DEPTHS, OURS, RESULTS, THEIRS, ratio_map
from utils.measuring.as_called import CallRow


def row(m, k, ratio):
    layout = "rows, rows"
    return CallRow("sgemm", m, 1, k, None, layout, "float32", 1.0, 1.0, "PyTorch", ratio, ratio)


def draw(*rows):
    return ratio_map(rows, "Title", "recorded on a GPU")


def test_a_cell_holds_the_geometric_mean_and_how_many_there_are():
    alt = draw(row(5000, 50, 0.5), row(5000, 99, 0.5), row(5000, 100, 2.0)).alt_text
    assert "m·n from 10³, k from 32: 0.50 of 2; m·n from 10³, k from 100: 2.00 of 1." in alt


@pytest.mark.parametrize("ratio, colour", [(1.3, OURS), (0.7, THEIRS)])
def test_the_colour_says_who_is_faster(ratio, colour):
    (cell,) = draw(row(5000, 50, ratio)).axes[0].patches
    assert to_hex(cell.get_facecolor()) == colour


def test_every_class_of_sizes_has_a_cell():
    rows = [row(int(size), k, 1.0) for size in RESULTS[:-1] for k in DEPTHS[:-1]]
    assert draw(*rows).alt_text.count(" of 1") == len(rows)
