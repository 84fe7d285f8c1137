"""The map of ratios: each point counts in one cell, and the colour says who is faster."""

import pytest

from utils.figures.called_map import DEPTHS, RESULTS, draw_called_map
from utils.virtual_gpu.pictures.svg import BLUE, ORANGE


def test_a_cell_holds_the_geometric_mean_and_how_many_there_are():
    picture = draw_called_map("Title", [(5000, 50, 0.5), (5000, 99, 0.5), (5000, 100, 2.0)])
    assert "10³–10⁴, 32 to 100: 0.50 of 2; 10³–10⁴, 100 to 316: 2.00 of 1." in picture.alt
    assert picture.body.count("of 2<") == picture.body.count("of 1<") == 1


@pytest.mark.parametrize("ratio, own, other", [(1.3, BLUE, ORANGE), (0.7, ORANGE, BLUE)])
def test_the_colour_says_who_is_faster(ratio, own, other):
    body = draw_called_map("Title", [(5000, 50, ratio)]).body
    assert own in body
    assert other not in body


def test_every_recorded_shape_has_a_cell():
    points = [(int(mn), k, 1.0) for mn in RESULTS[:-1] for k in DEPTHS[:-1]]
    assert draw_called_map("Title", points).alt.count(" of 1") == len(points)
