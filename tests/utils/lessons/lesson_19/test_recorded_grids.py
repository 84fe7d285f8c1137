"""Recorded grids of a reduction: numbers of blocks and shares of the bandwidth."""

import pytest

from reduce_kernels import LADDER
from utils import lessons as course
from utils.errors import CourseError
from utils.lessons.lesson_19.bandwidth_by_blocks import shares_by_blocks

REDUCE6 = LADDER.step("reduce6")


def test_grids_stand_in_the_order_of_their_blocks_and_take_every_element():
    grids = course.grids(REDUCE6, "2^30")
    blocks = [grid.blocks for grid in grids]
    assert blocks == sorted(set(blocks))
    assert all(grid.blocks * grid.per_thread * 256 >= 2**30 for grid in grids)


def test_a_number_of_blocks_that_is_not_recorded_is_named_with_those_that_are():
    with pytest.raises(CourseError, match=r"reduce6 with 65 blocks is not recorded .* one of 64, "):
        course.share_of_blocks(REDUCE6, 65)


def test_a_size_that_is_not_recorded_is_named():
    with pytest.raises(CourseError, match=r"reduce6 is not recorded at 2\^7"):
        course.grids(REDUCE6, "2^7")


def test_the_figure_tells_the_ends_and_the_best_of_each_curve():
    figure = shares_by_blocks({"few": [(64, 0.2), (1024, 0.9), (4096, 0.3)]}, 200, 1056, "here")
    assert "few: 20% with 64, at most 90% with 1,024, and 30% with 4,096" in figure.alt_text
    assert "200 blocks are enough" in figure.alt_text


def test_more_than_all_of_the_bandwidth_is_refused():
    with pytest.raises(CourseError):
        shares_by_blocks({"too fast": [(64, 0.2), (128, 1.2)]}, 200, 1056, "here")
