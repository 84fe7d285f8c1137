from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from utils.errors import CourseError
from utils.figures import plots
from utils.measuring import records
from utils.measuring.records import Record

PEAK = 66900
BASE = replace(
    Record(**dict.fromkeys(records.COLUMNS)),
    device="NVIDIA H200",
    date="2026-11-21",
    ladder="gemm",
)


def gemm(speeds, sizes=(512, 1024, 4096), **fields):
    """Records of square products: for each step its GFLOP/s, the same at every size."""
    return records.to_frame(
        replace(
            BASE,
            **{"step": step, "m": n, "n": n, "k": n, "gflops": speed},
            efficiency=speed and speed / PEAK,
            time_ms=speed and 2 * n**3 / speed / 1e6,
            **fields,
        )
        for step, speed in speeds.items()
        for n in sizes
    )


SLOW_AND_FAST = {"naive": 5000, "tiled": 20000}
WITH_LIBRARY = gemm(SLOW_AND_FAST, library="cuBLAS", library_ratio=0.5)
CROWDED = gemm({f"step_{i}": 1000 + 100 * i for i in range(12)}, params="TILE=32 GRAIN=8")
REDUCE = records.to_frame(
    replace(BASE, step=f"reduce{i}", elements=2**e, gb_per_s=500 * (i + 1), efficiency=0.1 * i,
            time_ms=1 / (i + 1))
    for i in range(9)
    for e in (20, 28, 30)
)
PUBLISHED = records.published("gemm_gpu")
SHARES = pd.DataFrame(
    {"label": ["ILP 1"] * 3 + ["ILP 4"] * 3, "x": [32, 256, 1024] * 2}
    | {"share": [0.06, 0.4, 0.5, 0.23, 0.96, 0.96], "model": [0.06, 0.5, 1, 0.25, 1, 1]}
)
CROSSES = [(192, 1.0, "ILP 4"), (256, 1.0, "ILP 3"), (320, 1.0, "ILP 2"), (576, 1.0, "ILP 1")]
WHERE = "recorded 2026-11-21 on NVIDIA H200; crosses: where the GTX480 of 2010 is at its peak"
FIGURES = {
    "shares": lambda: plots.share_lines(SHARES, "threads", "Chains", WHERE, CROSSES),
    "gflops": lambda: plots.gflops_against_size(WITH_LIBRARY, PEAK, "SGEMM"),
    "one size": lambda: plots.gflops_against_size(gemm(SLOW_AND_FAST, [64]), PEAK, "One size"),
    "crowded": lambda: plots.gflops_against_size(CROWDED, PEAK, "Twelve steps"),
    "bandwidth": lambda: plots.gflops_against_size(REDUCE, 4800, "Sum", unit="gb_per_s"),
    "old and new": lambda: plots.old_against_new(WITH_LIBRARY, "naive", "tiled", PEAK),
    "efficiency": lambda: plots.efficiency_per_step(WITH_LIBRARY),
    "published": lambda: plots.published_beside_measured(PUBLISHED, WITH_LIBRARY),
}


def test_a_ladders_figures_show_each_step_once_with_its_best_constants():
    slow, fast = gemm({"tiled": 10_000}, params="TILE=8"), gemm({"tiled": 20_000}, params="TILE=32")
    figures = plots.figures_of(pd.concat([slow, fast]), "SGEMM")
    assert list(figures) == ["gflops", "share_of_peak"]
    assert "tiled: 20,000 at 512, 20,000 at 4096 (30% of the peak)" in figures["gflops"].alt_text
    assert "10,000" not in figures["gflops"].alt_text


def test_a_line_over_sizes_leaves_other_shapes_out_unless_there_are_no_others():
    oblong = gemm({"tiled": 10_000}, [2000]).assign(n=600)
    drawn = plots.figures_of(pd.concat([gemm({"tiled": 20_000}), oblong]), "SGEMM")["gflops"]
    assert [20_000] * 3 in lines(drawn).values()
    assert "2000×600×2000" in plots.figures_of(oblong, "SGEMM")["gflops"].alt_text


def test_without_an_efficiency_there_is_no_peak_to_draw_under():
    with pytest.raises(CourseError, match="no row has an efficiency"):
        plots.figures_of(gemm({"tiled": 10_000}).assign(efficiency=np.nan), "SGEMM")


@pytest.fixture(params=FIGURES)
def figure(request):
    return FIGURES[request.param]()


def texts(figure):
    return [text.get_text() for text in figure.findobj(Text)]


def lines(figure):
    """The drawn values by colour: steps have a colour, the library is INK."""
    return {
        line.get_color(): list(line.get_ydata())
        for line in figure.axes[0].get_lines()
        if len(set(line.get_xdata()) - {0, 1})
    }


def test_the_figure_says_where_its_numbers_come_from(figure):
    assert any("recorded 2026-11-21 on NVIDIA H200" in text for text in texts(figure))


def test_the_alt_text_is_in_the_page(figure):
    page = plots.as_html(figure)
    assert page.startswith('<img alt="')
    assert "NVIDIA H200" in page.split('"')[1]


def test_no_text_is_cut_off_and_no_two_labels_touch(figure):
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    boxes = {
        # Without the leader that an annotation has beside its text.
        text: Text.get_window_extent(text, canvas.get_renderer())
        for text in figure.findobj(Text)
        if text.get_text() and text.get_visible()
    }
    width, height = canvas.get_width_height()
    for box in boxes.values():
        assert 0 <= box.x0 < box.x1 <= width
        assert 0 <= box.y0 < box.y1 <= height
    labels = [boxes[text] for text in figure.axes[0].texts]
    for i, one in enumerate(labels):
        assert not any(one.overlaps(other) for other in labels[i + 1 :])


def test_the_text_of_a_cross_at_the_peak_hides_no_line():
    figure = FIGURES["shares"]()
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    peak = figure.axes[0].transData.transform((192, 100))[1]
    crosses = [text for text in figure.axes[0].texts if text.get_fontsize() == 8]
    assert [text.get_text() for text in crosses] == [text for _, _, text in CROSSES]
    for text in crosses:
        assert Text.get_window_extent(text, canvas.get_renderer()).y0 > peak


def test_a_share_above_the_peak_is_refused():
    with pytest.raises(CourseError, match="of the peak, which no kernel reaches"):
        plots.share_lines(SHARES.assign(share=1.1), "threads", "Chains", WHERE)


def test_the_card_is_opaque_so_that_it_reads_on_any_page(figure):
    assert figure.get_facecolor()[3] == 1
    assert figure.axes[0].get_facecolor()[3] == 1


@pytest.mark.parametrize("name, peak", [("gflops", PEAK), ("bandwidth", 4800), ("one size", PEAK)])
def test_the_axis_ends_at_the_peak(name, peak):
    assert FIGURES[name]().axes[0].get_ylim() == (0, peak)


def test_the_axis_of_old_and_new_ends_at_the_peak():
    figure = FIGURES["old and new"]()
    assert figure.axes[0].get_ylim() == (0, PEAK)
    assert "4.0×" in texts(figure)
    assert "4.0× at 1024" in figure.alt_text


def test_the_unit_of_the_axis_and_of_the_peak_is_the_one_asked_for():
    assert {"GB/s", "peak 4,800 GB/s"} <= set(texts(FIGURES["bandwidth"]()))
    assert {"GFLOP/s", "peak 66,900 GFLOP/s"} <= set(texts(FIGURES["gflops"]()))


def test_every_step_and_the_library_are_labelled():
    assert {"naive", "tiled", "cuBLAS"} <= set(texts(FIGURES["gflops"]()))


def test_sizes_are_the_ticks_of_a_binary_axis():
    axes = FIGURES["gflops"]().axes[0]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["512", "1024", "4096"]
    assert axes.get_xscale() == "log"


def test_the_library_is_drawn_at_its_own_speed():
    # It takes half our time, so it is twice as fast; the median over both steps is drawn.
    frame = gemm({"tiled": 20000}, library="cuBLAS", library_ratio=0.5)
    drawn = lines(plots.gflops_against_size(frame, PEAK, "SGEMM"))
    assert drawn[plots.INK] == [40000] * 3
    assert drawn[plots.COLOURS[0]] == [20000] * 3


def test_without_a_library_nothing_is_dashed():
    figure = plots.gflops_against_size(gemm(SLOW_AND_FAST), PEAK, "SGEMM")
    assert plots.INK not in lines(figure)
    assert "dashed" not in figure.alt_text


def test_a_step_with_several_constants_has_a_line_for_each():
    frame = pd.concat([gemm({"tiled": 9000 + t}, params=f"TILE={t}") for t in (8, 16)])
    found = set(texts(plots.gflops_against_size(frame, PEAK, "SGEMM")))
    assert {"tiled TILE=8", "tiled TILE=16"} <= found


def test_old_and_new_are_compared_with_their_best_constants():
    frame = pd.concat(
        [gemm({"old": 1000}), *(gemm({"new": v}, params=f"T={v}") for v in (3000, 2000))]
    )
    assert "3.0×" in texts(plots.old_against_new(frame, "old", "new", PEAK))


def test_numbers_measured_here_are_called_so():
    figure = plots.gflops_against_size(gemm(SLOW_AND_FAST), PEAK, "SGEMM", here=True)
    assert "measured here on NVIDIA H200" in texts(figure)


def test_sizes_that_are_not_square_keep_their_name():
    frame = records.to_frame([replace(BASE, step="tiled", m=2000, n=600, k=2000, gflops=9000)])
    assert "2000×600×2000" in texts(plots.gflops_against_size(frame, PEAK, "SGEMM"))


def test_bars_are_at_the_largest_size_that_every_step_has():
    frame = pd.concat([gemm({"naive": 6690}, [64, 128]), gemm({"tiled": 13380}, [64, 128, 256])])
    found = texts(plots.efficiency_per_step(frame))
    assert {"10.0 %", "20.0 %", "recorded 2026-11-21 on NVIDIA H200, at 128"} <= set(found)


def test_steps_without_a_common_size_are_not_compared():
    frame = pd.concat([gemm({"naive": 1}, [64]), gemm({"tiled": 1}, [128])])
    with pytest.raises(CourseError, match="No size was measured for all of naive, tiled"):
        plots.efficiency_per_step(frame)


def test_published_figures_are_converted_from_2_to_the_30():
    figure = plots.published_beside_measured(PUBLISHED, gemm({"ilp": 33450}))
    # 1709 · 2^30 operations a second on a GPU with a peak of 6144 · 10^9.
    assert "ilp on GTX Titan X (Maxwell), 2016 29.9 %" in figure.alt_text
    assert "ilp on NVIDIA H200, 2026, ours 50.0 %" in figure.alt_text
    # The source gives only this percentage.
    assert "maxas on unstated (some Maxwell cards) 98.0 %" in figure.alt_text
    # Neither a peak nor a percentage is known.
    assert "unstated (copies as on the GTX Titan X)" in set(PUBLISHED.device)
    assert "unstated (copies" not in figure.alt_text


def test_published_figures_that_cannot_be_compared_are_refused():
    with pytest.raises(CourseError, match="No published figure"):
        plots.published_beside_measured(
            PUBLISHED[PUBLISHED.device.str.startswith("unstated (copies")], WITH_LIBRARY
        )


@pytest.mark.parametrize("fields", [{}, {"library": "cuBLAS", "library_ratio": 0.1}])
def test_more_than_the_peak_is_an_error_with_an_explanation(fields):
    peak = 19000 if not fields else PEAK
    with pytest.raises(CourseError, match=r"at 512 is .*% of the peak, which no kernel reaches"):
        plots.gflops_against_size(gemm(SLOW_AND_FAST, **fields), peak, "SGEMM")


@pytest.mark.parametrize(
    "draw",
    [
        lambda frame: plots.gflops_against_size(frame, PEAK, "SGEMM"),
        plots.efficiency_per_step,
        lambda frame: plots.published_beside_measured(PUBLISHED, frame),
    ],
)
@pytest.mark.parametrize("rows", [WITH_LIBRARY.iloc[:0], gemm({"naive": None})])
def test_a_table_without_numbers_is_refused(draw, rows):
    with pytest.raises(CourseError, match="There is nothing to draw"):
        draw(rows)


def test_a_step_that_is_missing_is_named_with_those_that_are_there():
    with pytest.raises(CourseError, match="no rows of 'best': its steps are naive, tiled"):
        plots.old_against_new(WITH_LIBRARY, "naive", "best", PEAK)


def test_two_devices_are_not_mixed():
    frame = pd.concat([gemm({"naive": 1}), gemm({"naive": 1}).assign(device="Tesla T4")])
    with pytest.raises(CourseError, match="NVIDIA H200 and Tesla T4: choose one"):
        plots.gflops_against_size(frame, PEAK, "SGEMM")


def test_a_row_without_a_size_is_refused():
    frame = records.to_frame([replace(BASE, step="fma_loop", gflops=60000)])
    with pytest.raises(CourseError, match="'fma_loop' has neither m, n and k nor elements"):
        plots.gflops_against_size(frame, PEAK, "SGEMM")


def test_a_figure_without_alt_text_is_not_shown():
    with pytest.raises(CourseError, match="no alt text"):
        plots.show(plots.Figure())


def test_alt_text_with_quotes_stays_inside_its_attribute():
    page = plots.as_html(plots.with_alt(plots.Figure(), 'a "quoted" <b>'))
    assert page.startswith('<img alt="a &quot;quoted&quot; &lt;b&gt;" width=')


def test_showing_a_figure_puts_it_on_the_page_and_closes_it(monkeypatch):
    shown = []
    monkeypatch.setattr(plots, "display", shown.append)
    figure = plots.with_alt(plots.pyplot.figure(), "an empty figure")
    plots.show(figure)
    assert 'alt="an empty figure"' in shown[0].data
    assert not plots.pyplot.fignum_exists(figure.number)


def test_labels_keep_their_distance_and_stay_in_the_axes():
    spread = plots._spread([0.0, 0.01, 0.02, 0.5, 0.99, 1.0], gap=0.05)
    assert np.diff(spread).min() == pytest.approx(0.05)
    assert spread[0] >= 0
    assert spread[-1] <= 1
    assert spread[3] == 0.5


@pytest.mark.parametrize("colour", [*plots.COLOURS, plots.INK, plots.QUIET])
def test_every_colour_stands_out_from_the_card(colour):
    def luminance(colour):
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return np.dot([0.2126, 0.7152, 0.0722], linear)

    text = colour in (plots.INK, plots.QUIET)
    contrast = (luminance(plots.CARD) + 0.05) / (luminance(colour) + 0.05)
    assert contrast >= (4.5 if text else 2.0)
