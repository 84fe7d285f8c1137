"""A figure of one CPU core compared with libraries, against matrix size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
from IPython.display import HTML
from matplotlib.figure import Figure

from utils.figures.labels import label_ends, need_few
from utils.figures.look import COLOURS, MARKERS, QUIET, new_figure, number, style, with_alt
from utils.figures.page import as_html
from utils.measuring import records

SIZES = (64, 128, 256, 512, 1024)
LIBRARIES = ("oneDNN", "oneDNN (AVX2)")
# Floats per vector: steps and libraries with the same width have the same colour.
WIDTHS = {
    "micro_kernel_avx512": 16,
    "oneDNN": 16,
    "micro_kernel_avx2": 8,
    "oneDNN (AVX2)": 8,
}
SHARES = (0, 25, 50, 75, 100, 125)
Series = Mapping[str, pd.Series]  # values by size, by name


def recorded(processor: str, steps: Sequence[str]) -> Figure:
    """Draw the recorded speed of CPU steps and oneDNN against matrix size, on one core.

    The speed is in percent of NumPy's BLAS. Each measurement alternated with NumPy's BLAS: a
    processor's clock changes between runs, but two functions that alternate share one clock, so
    their ratio is fair. oneDNN is left out if this processor has no record of it.

    Parameters
    ----------
    processor : str
        The name of a processor that has records.
    steps : sequence of str
        Names of steps of the CPU ladder.
    """
    frame = records.measured(processor, "cpu")
    frame = frame[frame["step"].isin(steps)]
    if processor in records.recorded_devices("cpu_libraries"):
        libraries = records.measured(processor, "cpu_libraries")
        frame = pd.concat([frame, libraries[libraries["step"].isin(LIBRARIES)]])
    frame = frame.assign(percent=100 * frame["library_ratio"])
    groups = frame.groupby("step", sort=False)
    series = {name: _square_values(rows, "percent") for name, rows in groups}
    days = " and ".join(sorted(set(frame["date"])))
    where = f"recorded, one core of one {processor}, {days}"
    colours = {name: COLOURS[WIDTHS.get(name) == 16] for name in series}
    y_label, title = "% of NumPy's BLAS, higher is better", "Vectors of 8 in blue, of 16 in orange"
    return _draw(series, colours, y_label, SHARES, title, where, (100, "NumPy's BLAS"))


def draw_recorded(processor: str, steps: Sequence[str]) -> HTML:
    """Return the figure of `recorded` as HTML, which a card can hold."""
    return HTML(as_html(recorded(processor, steps)))


def _square_values(rows: pd.DataFrame, value: str) -> pd.Series:
    """Return a Series n -> largest value of a column, over all n×n products with n in `SIZES`.

    rows: measurements with the columns m, n and k. value: the name of the column. The index is in
    ascending order.
    """
    square = (rows["m"] == rows["n"]) & (rows["n"] == rows["k"]) & rows["m"].isin(SIZES)
    return rows[square].groupby("m")[value].max().astype(float)


def _draw(
    series: Series,
    colours: Mapping[str, str],
    y_label: str,
    ticks: Sequence[float],
    title: str,
    where: str,
    level: tuple[float, str],
) -> Figure:
    """Draw one line per series against matrix size, on a linear axis from 0; return the figure.

    series: name -> Series by size, at most six. Libraries have dashed lines. `colours` maps the
    name of a series to its colour. `ticks` are the numbers shown on the y axis. `where` is the line
    below the title. `level` is the height of a dotted horizontal line and its label. Raises
    CourseError for more than six series.
    """
    need_few(list(series))
    most = max(values.max() for values in series.values())
    with style():
        figure = new_figure(title, where, height=3.2)
        axes = figure.add_subplot()
        axes.set_xscale("log", base=2)
        axes.minorticks_off()
        axes.set_xticks(SIZES, map(str, SIZES))
        axes.set_ylim(0, 1.1 * max(most, level[0]))
        axes.axhline(level[0], color=QUIET, linestyle=":", linewidth=1.5)
        axes.annotate(level[1], (SIZES[2], level[0]), (0, -12), textcoords="offset points",
                      color=QUIET, ha="center")  # fmt: skip
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_xlabel("matrix size m = n = k")
        axes.set_ylabel(y_label)
        axes.grid(axis="y")
        ends = {}
        for (name, values), mark in zip(series.items(), MARKERS, strict=False):
            colour = colours[name]
            look = {"linestyle": "--"} if name in LIBRARIES else {}
            axes.plot(values.index, values, color=colour, marker=mark, clip_on=False, **look)
            ends[name] = (values.index[-1], values.iloc[-1], colour)
        label_ends(axes, ends)
    alt_text = "; ".join(
        f"{name} goes from {number(values.iloc[0])} to {number(values.iloc[-1])}"
        for name, values in series.items()
    )
    dotted = f"The dotted line: {level[1] or level[0]}"
    alt_text = f"{y_label}, from {SIZES[0]} to {SIZES[-1]}: {alt_text}. {dotted}. {where}."
    return with_alt(figure, alt_text)
