"""Tests of the plots of speed against size below the peak."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.utils.figures.example_figures import (
    BASE,
    CROWDED,
    FIGURES,
    PEAK,
    PUBLISHED,
    REDUCE,
    SLOW_AND_FAST,
    WITH_LIBRARY,
    gemm,
    labels,
    texts,
)
from utils.errors import CourseError
from utils.figures import plots
from utils.figures.look import COLOURS, GREY, INK
from utils.figures.speed_figures import round_speeds
from utils.measuring import records


def lines(figure):
    """Return colour -> drawn values; a marked step has its own colour, the others share GREY."""
    return {
        line.get_color(): [value for value in line.get_ydata() if not np.isnan(value)]
        for line in figure.axes[0].get_lines()
        if len(set(line.get_xdata()) - {0, 1})
    }


def names(figure):
    return {text.get_text() for text in labels(figure)}


def test_the_marked_steps_have_colours_and_names_and_the_others_are_grey():
    figure = plots.curve(gemm({"naive": 1000, "tiled": 2000, "ilp": 3000}), ["tiled"])
    by_colour = lines(figure)
    assert by_colour[COLOURS[0]] == [2000] * 3
    assert sorted(by_colour[GREY]) == [1000] * 3 + [3000] * 3
    assert names(figure) == {"tiled"}


def test_the_figure_says_what_is_grey_where_something_is():
    frame = gemm({"naive": 1000, "tiled": 2000, "ilp": 3000})
    assert "; grey, from below: naive, ilp" in below_title(plots.curve(frame, ["tiled"]))
    assert "; grey: naive" in below_title(plots.curve(frame, ["tiled", "ilp"]))
    assert "grey" not in below_title(plots.curve(frame, ["naive", "tiled", "ilp"]))
    assert "; grey: ilp" in below_title(plots.old_against_new(frame, "naive", "tiled", PEAK))


def test_grey_steps_can_have_their_names_at_the_ends_of_their_lines():
    frame = gemm({"naive": 1000, "tiled": 2000, "ilp": 3000})
    figure = plots.curve(frame, ["tiled"], name_grey=True)
    assert names(figure) == {"naive", "tiled", "ilp"}
    assert "grey" not in below_title(figure)
    with pytest.raises(CourseError, match="at most 6"):
        plots.curve(CROWDED, ["register_blocked_3"], name_grey=True)


def test_a_peak_of_six_digits_is_shown_in_tflops():
    frame = gemm({"naive": 10_000})
    shown = {peak: set(texts(plots.curve(frame.assign(peak=peak), ["naive"])))
             for peak in (99_000, 989_400)}  # fmt: skip
    assert {"989", "TFLOP/s", "100 %"} <= shown[989_400]
    assert {"99,000", "GFLOP/s", "100 %"} <= shown[99_000]


def below_title(figure):
    """Return the text below the title as one line."""
    return " ".join(figure.texts[1].get_text().split())


def test_the_library_is_drawn_dashed_at_its_own_speed():
    # It takes half our time, so it is twice as fast; the median over both steps is drawn.
    frame = gemm({"tiled": 20000}, library="cuBLAS", library_ratio=0.5)
    figure = plots.curve(frame, ["tiled"])
    assert lines(figure)[INK] == [40000] * 3
    assert names(figure) == {"tiled", "cuBLAS"}
    assert "cuBLAS ends at 40,000, 2 times tiled" in figure.alt_text


def test_without_a_library_nothing_is_dashed():
    figure = plots.curve(gemm(SLOW_AND_FAST), ["tiled"])
    assert INK not in lines(figure)
    assert names(figure) == {"tiled"}


@pytest.mark.parametrize("name, peak", [("curve", PEAK), ("bandwidth", 4800), ("one size", PEAK)])
def test_the_axis_is_logarithmic_and_ends_at_the_peak(name, peak):
    axes = FIGURES[name]().axes[0]
    assert axes.get_ylim()[1] == pytest.approx(peak)
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


def test_both_scales_have_ticks_at_1_2_and_5_below_the_peak():
    words = set(texts(FIGURES["bandwidth"]()))
    assert {"100 %", "4,800", "50 %", "2,000", "10 %", "500", "GB/s"} <= words
    assert {"100 %", "66,900", "5 %", "5,000", "GFLOP/s"} <= set(texts(FIGURES["curve"]()))
    axes = FIGURES["curve"]().axes[0]
    assert list(axes.get_yticks()) == [5000, 10_000, 20_000, PEAK]


@pytest.mark.parametrize(
    "lowest, peak, speeds",
    [(48, 252.8, [50, 100]), (0.4, 1.1, [0.5]), (10, 100, [10, 20, 50]), (60, 90, [])],
)
def test_the_round_speeds_are_those_between_the_lowest_and_near_the_peak(lowest, peak, speeds):
    assert round_speeds(lowest, peak) == pytest.approx(speeds)


def test_a_point_stands_at_its_share_and_at_its_speed():
    axes = plots.curve(gemm({"tiled": 0.2 * PEAK}), ["tiled"]).axes[0]
    (share,) = [text for text in axes.texts if text.get_text() == "20 %"]
    assert share.xy[1] == pytest.approx(0.2 * PEAK)
    assert axes.get_yticklabels()[list(axes.get_yticks()).index(20_000)].get_text() == "20,000"


def test_a_small_speed_has_two_digits_and_a_core_is_no_device():
    frame = gemm({"naive": 45, "tiled": 200})
    frame["peak"] = 252.8
    words = texts(plots.curve(frame.assign(ladder="cpu"), ["naive"]))
    assert {"50 %", "100", "20 %", "50", "the core's peak"} <= set(words)
    assert "the device's peak" in texts(plots.curve(frame, ["naive"]))


def test_every_point_is_inside_the_axes():
    axes = plots.curve(gemm({"naive": 45, "tiled": 20000}), ["naive"]).axes[0]
    assert axes.get_ylim()[0] <= 45


def test_sizes_are_the_ticks_of_a_binary_axis():
    axes = FIGURES["curve"]().axes[0]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["512", "1024", "4096"]


def test_a_line_over_sizes_leaves_other_shapes_out_unless_there_are_no_others():
    oblong = gemm({"tiled": 10_000}, [2000]).assign(n=600)
    figure = plots.curve(pd.concat([gemm({"tiled": 20_000}), oblong]), ["tiled"])
    assert lines(figure)[COLOURS[0]] == [20_000] * 3
    assert "2000×600×2000" in plots.curve(oblong, ["tiled"]).alt_text


def test_a_step_is_drawn_with_its_best_constants():
    slow, fast = gemm({"tiled": 10_000}, params="TILE=8"), gemm({"tiled": 20_000}, params="TILE=32")
    assert lines(plots.curve(pd.concat([slow, fast]), ["tiled"]))[COLOURS[0]] == [20_000] * 3


def test_the_words_say_how_each_marked_step_rises():
    alt = FIGURES["curve"]().alt_text
    assert "naive goes from 5,000 at 512 to 5,000 at 4096, 7.5% of the peak" in alt
    frame = pd.concat([gemm({"ilp": 9000}, [512]), gemm({"ilp": 8000}, [1024])])
    assert "falls from 9,000 at 512 to 8,000 at 1024" in plots.curve(frame, ["ilp"]).alt_text


def test_more_names_than_five_with_that_of_the_library_are_refused():
    with pytest.raises(CourseError, match="at most 5 labelled series, and these are 6: register"):
        plots.curve(CROWDED, [f"register_blocked_{i}" for i in range(6)])
    frame = gemm({f"step_{i}": 1000 for i in range(5)}, library="cuBLAS", library_ratio=0.5)
    with pytest.raises(CourseError, match=r"these are 6: step_0, .*, cuBLAS"):
        plots.curve(frame, [f"step_{i}" for i in range(5)])


def test_at_most_six_others_are_grey_and_the_figure_names_them_from_below():
    figure = plots.curve(CROWDED, ["register_blocked_3"])
    grey = {value for value in lines(figure)[GREY]}
    assert len(grey) == 6
    assert {1000, 2100} <= grey  # the slowest and the fastest
    named = below_title(figure).partition("; grey, from below: ")[2].split(", ")
    assert len(named) == 6
    assert (named[0], named[-1]) == ("register_blocked_0", "register_blocked_11")


def test_old_and_new_are_compared_with_their_best_constants():
    frame = pd.concat(
        [gemm({"old": 1000}), *(gemm({"new": v}, params=f"T={v}") for v in (3000, 2000))]
    )
    figure = plots.old_against_new(frame, "old", "new", PEAK)
    assert "512\n3.0×" in texts(figure)
    assert figure.alt_text.startswith("new over old: 3.0× at 512, 3.0× at 1024")


def test_the_steps_that_are_neither_old_nor_new_are_grey():
    frame = gemm({"old": 1000, "new": 3000, "newer": 9000})
    figure = plots.old_against_new(frame, "old", "new", PEAK)
    assert names(figure) == {"old", "new"}
    assert lines(figure)[GREY] == [9000] * 3
    assert figure.axes[0].get_ylim()[1] == pytest.approx(PEAK)


def test_a_step_with_another_peak_is_left_out():
    from_cache = gemm({"l2_read": 1}).assign(efficiency=np.nan, gflops=2 * PEAK)
    frame = pd.concat([gemm({"old": 1000, "new": 3000}), from_cache])
    figure = plots.old_against_new(frame, "old", "new", PEAK)
    assert not lines(figure).get(GREY)
    with pytest.raises(CourseError, match="l2_read on NVIDIA H200 at 512 is 200"):
        plots.old_against_new(frame, "old", "l2_read", PEAK)


def test_every_step_has_a_panel_with_all_others_in_grey():
    figure = plots.small_multiples(CROWDED, "Twelve steps")
    panels = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title("left") for axes in panels] == list(CROWDED["step"].unique())
    for axes in panels:
        others, line, _ = axes.get_lines()
        assert np.isnan(others.get_ydata()).sum() == 11
        assert line.get_color() == COLOURS[0]


def test_numbers_measured_here_are_called_so():
    figure = plots.curve(gemm(SLOW_AND_FAST), ["tiled"], here=True)
    assert below_title(figure).startswith("measured here on NVIDIA H200")


def test_a_ladders_figures_are_panels_and_a_staircase():
    figures = plots.figures_of(REDUCE, "Sum")
    assert list(figures) == ["gb_per_s", "share_of_peak"]
    assert "4,500 at 2³⁰, 93.8% of the peak" in figures["gb_per_s"].alt_text


def test_without_an_efficiency_there_is_no_peak_to_draw_under():
    with pytest.raises(CourseError, match="no row has an efficiency"):
        plots.figures_of(gemm({"tiled": 10_000}).assign(efficiency=np.nan), "SGEMM")


@pytest.mark.parametrize("fields", [{}, {"library": "cuBLAS", "library_ratio": 0.1}])
def test_more_than_the_peak_is_an_error_with_an_explanation(fields):
    peak = PEAK if fields else 19000
    with pytest.raises(CourseError, match=r"at 512 is .*% of the peak, which no kernel reaches"):
        plots.old_against_new(gemm(SLOW_AND_FAST, **fields), "naive", "tiled", peak)


@pytest.mark.parametrize(
    "draw",
    [
        lambda frame: plots.curve(frame, []),
        lambda frame: plots.small_multiples(frame, "Steps"),
        plots.staircase,
        lambda frame: plots.published_beside_measured(PUBLISHED, frame),
    ],
)
@pytest.mark.parametrize("rows", [WITH_LIBRARY.iloc[:0], gemm({"naive": None})])
def test_a_table_without_numbers_is_refused(draw, rows):
    with pytest.raises(CourseError, match="There is nothing to draw"):
        draw(rows)


def test_a_step_that_is_missing_is_named_with_those_that_are_there():
    with pytest.raises(CourseError, match="no rows of 'best': its steps are naive, tiled"):
        plots.curve(WITH_LIBRARY, ["best"])


def test_two_devices_are_not_mixed():
    frame = pd.concat([gemm({"naive": 1}), gemm({"naive": 1}).assign(device="Tesla T4")])
    with pytest.raises(CourseError, match="NVIDIA H200 and Tesla T4: choose one"):
        plots.curve(frame, ["naive"])


def test_a_row_without_a_size_is_refused():
    frame = records.to_frame([replace(BASE, step="fma_loop", gflops=60000, efficiency=0.9)])
    with pytest.raises(CourseError, match="'fma_loop' has neither m, n and k nor elements"):
        plots.curve(frame, ["fma_loop"])
