"""The staircase: the share of the peak that each step of a ladder reaches at one size."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from utils.errors import CourseError
from utils.figures.look import COLOURS, GREY, INK, QUIET, factor, new_figure, style, with_alt
from utils.figures.points import climbers, library_name, points_of, where_from

_ROW = 0.225  # inches


def staircase(
    frame: pd.DataFrame,
    title: str = "Share of the peak",
    size: str | None = None,
    here: bool = False,
) -> Figure:
    """Draw one bar per step with its best constants, in the ladder's order; the library as a line.

    A bar is the step's percentage of the peak. Steps that are faster than all steps before them are
    in colour, and a stair marks the best speed so far. frame: records of one device. size: as
    figures write it, "4096" or "2³⁰"; by default the largest that every step has. here: True if the
    records were measured in this session, False if they were read from `data/measured`. Raises
    CourseError if no row has a share of the peak, for several devices, if the steps share no size
    or were not measured at `size`, and for more than 100 % of the peak.
    """
    points = _at_size(points_of(frame, 1.0, "efficiency"), size)
    percent = 100 * points.set_index("step")["value"]
    library = 100 * points["library_value"].median()  # NaN without one
    up = climbers(percent)
    where = f"{where_from(points, here)}, at {points['size_label'].iloc[0]}"
    rows = np.arange(len(percent))
    with style():
        figure = new_figure(title, where, height=0.6 + _ROW * len(percent))
        axes = figure.add_subplot()
        colours = [COLOURS[0] if step in up.index else GREY for step in percent.index]
        axes.barh(rows, percent, color=colours, height=0.62)
        stairs = {"orientation": "horizontal", "baseline": None, "color": QUIET}
        axes.stairs(percent.cummax(), np.append(rows, len(rows)) - 0.5, linewidth=1.2, **stairs)
        axes.set_yticks(rows, percent.index)
        for row, value in zip(rows, percent, strict=True):
            axes.annotate(f"{value:.1f} %", (1, row), (42, 0), ha="right", va="center",
                          xycoords=axes.get_yaxis_transform(), textcoords="offset points",
                          annotation_clip=False)  # fmt: skip
        if library > 0:
            axes.axvline(library, color=INK, linestyle="--", linewidth=1.4)
            axes.annotate(f"{library_name(points)} {library:.1f} %", (library, 1), (0, 3),
                          xycoords=axes.get_xaxis_transform(), textcoords="offset points",
                          ha="center", annotation_clip=False)  # fmt: skip
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(0, 100)
        axes.set_xlabel("% of the peak")
        axes.tick_params(axis="y", left=False)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x")
    return with_alt(figure, _alt_text(percent, library, library_name(points), where))


def _at_size(points: pd.DataFrame, size: str | None) -> pd.DataFrame:
    """Return the points at the size with this label; by default at the largest that all steps have.

    Raises CourseError if there is no such size.
    """
    steps = list(points["step"].unique())
    if size is not None:
        at_size = points[points["size_label"] == size]
        if at_size.empty:
            raise CourseError(
                f"No step was measured at {size}: there are "
                f"{', '.join(points.sort_values('size')['size_label'].unique())}."
            )
        return at_size
    common = points.groupby("size")["step"].nunique() == len(steps)
    if not common.any():
        raise CourseError(
            f"No size was measured for all of {', '.join(steps)}: choose steps that share one."
        )
    return points[points["size"] == common[common].index.max()]


def _alt_text(percent: pd.Series, library: float, rival: str, where: str) -> str:
    """Return the alt text: first and best step, greatest rises, and the steps above the library.

    percent: step -> percentage of the peak, in the ladder's order. library: its percentage, NaN
    without a library. rival: the library's name. where: the text on the device and the date.
    """
    up, best = climbers(percent), percent.idxmax()
    if len(percent) == 1:
        alt = f"{best} reaches {percent[best]:.1f} % of the peak"
    else:
        alt = (
            f"The ladder of {len(percent)} steps climbs from {percent.iloc[0]:.1f} % of the peak "
            f"({percent.index[0]}) to {percent[best]:.1f} % ({best})"
        )
    rises = (up / up.shift()).dropna().nlargest(4)
    if len(rises):
        alt += ". The greatest steps up: " + ", ".join(
            f"{step} {factor(rise)} to {percent[step]:.1f} %" for step, rise in rises.items()
        )
    if library > 0:
        faster = percent.index[percent > library]
        alt += f". {rival} reaches {library:.1f} %, and " + (
            f"{' and '.join(faster)} more" if len(faster) else "no step more"
        )
    return f"{alt}. {where}."
