"""Lines of the share of a peak against the work in flight, compared with Little's law."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from utils.figures.labels import label_ends
from utils.figures.look import COLOURS, INK, MARKERS, new_figure, style, with_alt
from utils.machine.devices import fraction_of_peak

# Dots short and far apart, so that the model's line can be told from the other on a small screen.
_DOTS = (0, (1, 1.6))


def share_lines(
    points: pd.DataFrame,
    axis: str,
    title: str,
    where: str,
    marks: Sequence[tuple[float, float, str]] = (),
    ticks: Sequence[float] = (),
    notes: Sequence[tuple[float, float, str]] = (),
    yardstick: str = "the data sheet's peak",
) -> Figure:
    """Draw the share of the peak against a quantity on the x-axis, and return the figure.

    A dotted line per label shows the model's share. points: columns label, x, share and model
    (fractions), with at most six labels. axis: the label of the x-axis, such as "bytes in flight",
    whose scale is binary. where: the line below the title. marks: crosses for the results of
    others, as (x, share, label of the line whose colour they get). ticks: x of the ticks; by
    default the greatest x, its half, its quarter and so on. notes: words below a point, as (x,
    share, words). yardstick: what 100 % is. Raises CourseError for a share above 1.
    """
    with style():
        figure = new_figure(title, where, height=3.9)
        axes = figure.add_subplot()
        ends, colours = {}, dict(zip(points["label"].unique(), COLOURS, strict=False))
        for (label, line), mark in zip(points.groupby("label", sort=False), MARKERS, strict=False):
            fraction_of_peak(line["share"].max(), 1.0, label)
            x, share, colour = line["x"], 100 * line["share"], colours[label]
            axes.plot(x, share, color=colour, marker=mark, clip_on=False, zorder=3)
            axes.plot(x, 100 * line["model"], color=colour, linestyle=_DOTS, linewidth=2.2)
            ends[label] = (x.iloc[-1], share.iloc[-1], colour)
        for x, share, label in marks:
            axes.plot(x, 100 * share, "x", color=colours.get(label, INK), markersize=10,
                      markeredgewidth=2.5, clip_on=False, zorder=4)  # fmt: skip
        for x, share, words in notes:
            axes.annotate(words, (x, 100 * share), (0, -7), ha="center", va="top",
                          textcoords="offset points")  # fmt: skip
        if not ticks:
            octaves = np.floor(np.log2(points["x"].max() / points["x"].min()))
            ticks = points["x"].max() / 2.0 ** np.arange(octaves + 1)
        axes.set_xscale("log", base=2)
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.set_xlim(points["x"].min() / 1.1, points["x"].max())
        axes.set_ylim(0, 100)
        axes.yaxis.set_major_formatter("{x:g} %")
        axes.set_xlabel(f"{axis}; dotted: Little's law")
        axes.annotate(f"of {yardstick}", (0, 1), (-32, 6), xycoords="axes fraction", ha="left",
                      textcoords="offset points", annotation_clip=False)  # fmt: skip
        axes.grid(axis="y")
        label_ends(axes, ends)
    return with_alt(figure, _alt_text(points, f"{yardstick} against {axis}", where, marks))


def _alt_text(
    points: pd.DataFrame, axes: str, where: str, marks: Sequence[tuple[float, float, str]]
) -> str:
    """Return the alt text: each line's first and highest share, and the crosses.

    points: columns label, x and share, a fraction. axes: words such as "the peak against bytes in
    flight". where: the line below the title. marks: the crosses, as (x, share, label).
    """
    rises = "; ".join(
        f"{label} rises from {line['share'].iloc[0]:.0%} at {line['x'].iloc[0]:g} to at most "
        f"{line['share'].max():.0%} at {line['x'][line['share'].idxmax()]:g}"
        for label, line in points.groupby("label", sort=False)
    )
    crosses = "; ".join(f"{label} at {x:g}, {share:.0%}" for x, share, label in marks)
    alt = f"Share of {axes}: {rises}. "
    return alt + (f"Crosses: {crosses}. " if marks else "") + f"{where}."
