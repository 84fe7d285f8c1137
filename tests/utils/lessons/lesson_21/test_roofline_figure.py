"""The roofline figure shows the path of a ladder under the ceilings of a device."""

import pandas as pd
import pytest

from tests.utils.figures.example_figures import CEILINGS, LADDER, labels, texts, touching
from utils.errors import CourseError
from utils.lessons.lesson_21.roofline_figure import roofline

POINTS = pd.DataFrame({"label": ["slow", "fast"], "intensity": [0.5, 700], "gflops": [1.0, 800]})


@pytest.fixture(params=["DRAM", "shared"])
def figure(request):
    return roofline(POINTS, CEILINGS, "Steps", request.param)


def test_the_figure_names_the_steps_every_ceiling_and_its_source(figure):
    named = {"NVIDIA H200, recorded 2026-11-21", "slow  1", "fast  800", "FP32 1,000 GFLOP/s"}
    assert named | {"DRAM 10 GB/s", "L2 40 GB/s"} <= set(texts(figure))


def test_the_words_say_what_part_of_its_bound_a_step_reaches(figure):
    assert "fast reaches 800 GFLOP/s at 700 operations per byte of" in figure.alt_text
    assert "80% of what FP32 allows" in figure.alt_text


def test_a_step_under_a_memory_is_compared_with_that_memory():
    alt_text = roofline(POINTS, CEILINGS, "Steps").alt_text
    # 0.5 operations per byte of 10 GB/s are 5 GFLOP/s.
    assert "slow reaches 1 GFLOP/s at 0.5 operations per byte of DRAM, 20% of what DRAM" in alt_text


@pytest.mark.slow
def test_the_lines_bend_where_the_memory_feeds_the_arithmetic(figure):
    lines = [tuple(line.get_xdata()) for line in figure.axes[0].get_lines()]
    bends = {ends[1] for ends in lines if len(ends) == 2}
    assert {1000 / 10, 1000 / 40, 1000 / 256} <= bends


def test_the_name_of_a_slope_gives_way_to_points_on_it():
    def begins(points):
        drawn = roofline(pd.DataFrame(points), CEILINGS, "Steps").axes[0].texts
        return next(one.get_position()[0] for one in drawn if one.get_text().startswith("DRAM"))

    ends = {"label": ["a", "b"], "intensity": [0.5, 700], "gflops": [1.0, 800]}
    among = {"label": ["a", "c", "b"], "intensity": [0.5, 0.6, 700], "gflops": [1.0, 9.0, 800]}
    assert begins(among) > 0.6 > begins(ends)


def test_the_ladder_is_a_path_with_at_most_six_labels():
    ladder = LADDER.assign(gflops=80 + LADDER.index / 10)
    figure = roofline(ladder, CEILINGS, "Steps")
    assert list(ladder["gflops"]) in [list(one.get_ydata()) for one in figure.axes[0].get_lines()]
    names = [text.get_text().split()[0] for text in labels(figure)]
    assert len(names) == 6
    assert {"step_0", "step_19"} <= set(names)
    assert touching(figure) == []


def test_the_path_joins_only_steps_that_were_faster_than_all_before():
    gflops = [1.0, 4.0, 2.0, 4.0, 9.0]
    points = pd.DataFrame({"label": list("abcde"), "intensity": range(1, 6), "gflops": gflops})
    drawn = [list(one.get_ydata()) for one in roofline(points, CEILINGS, "S").axes[0].get_lines()]
    assert [1, 4, 9] in drawn
    assert gflops in drawn


def test_the_position_of_a_marked_step_decides_its_colour():
    def colours(marked):
        drawn = labels(roofline(LADDER, CEILINGS, "Steps", marked=marked))
        return {one.get_text().split()[0]: one.get_color() for one in drawn}

    first = colours(["step_3", "step_5"])
    assert colours(["step_3", "step_9"])["step_3"] == first["step_3"]
    assert colours(["step_5", "step_3"])["step_5"] == first["step_3"]


def test_the_marked_steps_are_labelled():
    figure = roofline(LADDER, CEILINGS, "Steps", marked=["step_3"])
    assert [text.get_text() for text in labels(figure)] == ["step_3  80"]


def test_tables_that_are_put_together_are_paths_of_their_own():
    both = pd.concat([POINTS, POINTS.assign(label=["other", "last"], gflops=[2, 900])])
    drawn = [list(line.get_ydata()) for line in roofline(both, CEILINGS, "S").axes[0].get_lines()]
    assert [1, 800] in drawn
    assert [2, 900] in drawn
    assert len(labels(roofline(both, CEILINGS, "Steps"))) == 4


@pytest.mark.parametrize(
    "rows, memory, sentence",
    [
        (POINTS.iloc[:0], "DRAM", "There is nothing to draw"),
        (POINTS, "L1", "NVIDIA .* has no ceiling of L1: choose one of DRAM, L2, shared"),
        (POINTS.assign(gflops=1001), "DRAM", "slow on NVIDIA .* is 100.1% of the peak"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_a_sentence(rows, memory, sentence):
    with pytest.raises(CourseError, match=sentence):
        roofline(rows, CEILINGS, "Steps", memory)
