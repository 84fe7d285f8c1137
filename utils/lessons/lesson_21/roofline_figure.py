"""A roofline figure: the ceilings of a device, and the steps of a ladder below them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from utils.errors import CourseError
from utils.figures.labels import MOST_LABELS, label_points, need_few
from utils.figures.look import COLOURS, GREY, INK, QUIET, new_figure, number, style, with_alt
from utils.figures.points import milestones
from utils.machine.devices import fraction_of_peak
from utils.measuring.roofline import Ceilings

# One pipe serves shared memory and L1. Each of its wavefronts counts as 128 bytes, used or not.
_NAMES = {"shared": "pipe"}
_BYTES = {"shared": "byte that the pipe could bring"}


def roofline(
    points: pd.DataFrame,
    ceilings: Ceilings,
    title: str,
    memory: str = "DRAM",
    marked: Sequence[str] = (),
) -> Figure:
    """Draw the steps of a ladder under the measured ceilings of a device, on logarithmic axes.

    A path joins the steps that were faster than all before them; the others are single dots.

    Parameters
    ----------
    points : DataFrame
        Columns `label`, `intensity` and `gflops`, as from `roofline.points`. Several such tables
        may be concatenated; each becomes a path of its own. They must keep their indices, because
        a path begins where the index does not increase.
    ceilings : Ceilings
        The measured ceilings of the device.
    title : str
        The heading of the figure.
    memory : str
        The memory whose bytes the intensity counts. Its ceiling is drawn in bold.
    marked : sequence of str
        The labels to write, at most six. The position of a label in this sequence decides its
        colour, so that two figures can give a step the same one. By default the first point of each
        path, the largest gains, and the fastest point.

    Raises
    ------
    CourseError
        If there are no points, the device has no ceiling of this memory, a point is above the
        ceiling of arithmetic, or more than six points have a label in `marked`.
    """
    if points.empty:
        raise CourseError("There is nothing to draw: no step was recorded; choose another size.")
    if memory not in ceilings.gb_per_s:
        raise CourseError(
            f"{ceilings.where} has no ceiling of {memory}: choose one of "
            f"{', '.join(ceilings.gb_per_s)}."
        )
    for point in points.itertuples():
        fraction_of_peak(point.gflops, ceilings.gflops, f"{point.label} on {ceilings.where}")
    paths = _paths(points)
    with style():
        figure = new_figure(title, ceilings.where, height=4.4)
        axes = _axes(figure, points, ceilings)
        axes.set_xlabel(f"floating-point operations per {_BYTES.get(memory, f'byte of {memory}')}")
        lines = _draw_ceilings(axes, ceilings, memory, points)
        lines += [_joined(path) for path in paths]
        for path, line in zip(paths, lines[-len(paths) :], strict=True):
            axes.plot(*line, color=GREY, linewidth=1.2, zorder=3)
            axes.plot(path["intensity"], path["gflops"], "o", color=QUIET, markersize=4, zorder=3)
        names = list(marked) or _chosen(paths)
        shown = pd.concat(paths)[lambda all_: all_["label"].isin(names)]
        need_few(list(shown["label"]))
        labelled = {}
        for point in shown.itertuples():
            colour = COLOURS[names.index(point.label)]
            axes.plot(point.intensity, point.gflops, "o", color=colour, markersize=8, zorder=4)
            label = f"{point.label}  {number(point.gflops)}"
            labelled[label] = (point.intensity, point.gflops, colour)
        label_points(axes, labelled, lines)
    return with_alt(figure, _alt_text(points, shown, ceilings, memory))


def _paths(points: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the tables that were concatenated to `points`, in order, each with a new index.

    A table begins wherever the index of the rows does not increase.
    """
    first = np.diff(points.index, prepend=-1) <= 0
    return [path.reset_index(drop=True) for _, path in points.groupby(np.cumsum(first))]


def _joined(path: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Return (intensities, GFLOP/s) of the steps of a path that were faster than all before."""
    fastest = path[path["gflops"].cummax().diff().fillna(1) > 0]
    return fastest["intensity"], fastest["gflops"]


def _chosen(paths: Sequence[pd.DataFrame]) -> list[str]:
    """Return the labels that are written by default: milestones of each path, at most six."""
    most = max(2, MOST_LABELS // len(paths))
    return [path["label"][at] for path in paths for at in milestones(path["gflops"], most)[:most]][
        :MOST_LABELS
    ]


def _axes(figure: Figure, points: pd.DataFrame, ceilings: Ceilings) -> Axes:
    """Return new logarithmic axes whose limits fit the points and the ceilings.

    They have a grid, and "GFLOP/s" above the y-axis.
    """
    ridge = ceilings.gflops / min(ceilings.gb_per_s.values())
    axes = figure.add_subplot()
    axes.loglog()
    axes.set_xlim(min(points["intensity"].min(), 1) / 4, max(points["intensity"].max(), ridge) * 4)
    axes.set_ylim(points["gflops"].min() / 2.5, ceilings.gflops * 2)
    axes.minorticks_off()
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,g}")
    axes.annotate("GFLOP/s", (0, 1), (0, 6), xycoords="axes fraction", ha="right",
                  textcoords="offset points", annotation_clip=False)  # fmt: skip
    axes.grid(which="major")
    return axes


def _draw_ceilings(
    axes: Axes, ceilings: Ceilings, memory: str, points: pd.DataFrame
) -> list[tuple[list, list]]:
    """Draw the ceilings with their names, and return the lines that other labels must avoid.

    Each line is a pair: its x coordinates and its y coordinates. They are the ceilings and, one per
    sloped ceiling, the middle of its name. The ceiling of `memory` is bold. points: the drawn
    points, which the names do not cover.
    """
    left, right = axes.get_xlim()
    bottom, _ = axes.get_ylim()
    angle, lines = _angle_of(axes), []
    for name, rate in ceilings.gb_per_s.items():
        strong = name == memory
        start = max(left, bottom / rate)
        line = ([start, ceilings.gflops / rate], [start * rate, ceilings.gflops])
        axes.plot(*line, zorder=2, color=INK if strong else QUIET,
                  linewidth=2 if strong else 1, linestyle="-" if strong else ":")  # fmt: skip
        begin = _free_stretch(start, ceilings.gflops / rate, rate, points)
        words = f"{_NAMES.get(name, name)} {rate:,.0f} GB/s"
        axes.text(begin, 1.3 * begin * rate, words, va="bottom", rotation=angle,
                  rotation_mode="anchor", color=INK if strong else QUIET)  # fmt: skip
        lines += [line, ([begin, 10 * begin], [1.7 * begin * rate, 17 * begin * rate])]
    first = ceilings.gflops / max(ceilings.gb_per_s.values())
    lines.append(([first, right], [ceilings.gflops] * 2))
    axes.plot(*lines[-1], color=INK, linewidth=2, zorder=2)
    axes.annotate(f"FP32 {ceilings.gflops:,.0f} GFLOP/s", (right, ceilings.gflops), (0, 4),
                  ha="right", textcoords="offset points")  # fmt: skip
    return lines


def _free_stretch(start: float, end: float, rate: float, points: pd.DataFrame) -> float:
    """Return the x at which a ceiling's name begins: the leftmost one that covers no point.

    The sloped ceiling of `rate` GB/s reaches from x = `start` to x = `end`. A name takes about a
    factor of 10 along the slope, and a factor of 3 above it. If no position is free, the name
    begins near the left end.
    """
    for begin in 1.2 * start * np.arange(1, end / 12 / start):
        above = points["gflops"] / points["intensity"] / rate
        beside = points["intensity"].between(begin / 1.2, 10 * begin)
        if not (beside & above.between(1, 3)).any():
            return begin
    return 1.2 * start


def _angle_of(axes: Axes) -> float:
    """Return the angle, in degrees on the page, of a line along which y is proportional to x."""
    axes.figure.draw_without_rendering()
    (x0, y0), (x1, y1) = axes.transData.transform([(1, 1), (10, 10)])
    return math.degrees(math.atan2(y1 - y0, x1 - x0))


def _alt_text(points: pd.DataFrame, shown: pd.DataFrame, ceilings: Ceilings, memory: str) -> str:
    """Return the alt text: each labelled step's rate and intensity, and its fraction of its bound.

    The number of other steps and all ceilings follow. shown: the labelled rows of points.
    """
    steps = []
    for point in shown.itertuples():
        by_bytes = point.intensity * ceilings.gb_per_s[memory]
        limit = min(by_bytes, ceilings.gflops)
        bound = f"{memory} allows" if by_bytes < ceilings.gflops else "FP32 allows"
        steps.append(
            f"{point.label} reaches {point.gflops:,.0f} GFLOP/s at {point.intensity:.3g} "
            f"operations per byte of {memory}, {point.gflops / limit:.0%} of what {bound}"
        )
    others = len(points) - len(shown)
    lines = ", ".join(f"{name} {rate:,.0f} GB/s" for name, rate in ceilings.gb_per_s.items())
    return (
        f"{'; '.join(steps)}. " + (f"{others} more steps have no label. " if others else "")
        + f"Ceilings: {lines}, FP32 {ceilings.gflops:,.0f} GFLOP/s, {ceilings.where}."
    )  # fmt: skip
