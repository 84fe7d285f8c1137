"""The roofline: how fast a kernel may be for the bytes it moves, and how fast it is."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from utils.errors import CourseError
from utils.figures import plots
from utils.machine.devices import fraction_of_peak
from utils.measuring.roofline import Ceilings

_ALONG = "along the line"
# What passes through the pipe that serves both is counted together.
_LONG_NAMES = {"shared": "shared memory and L1"}


def roofline(points: pd.DataFrame, ceilings: Ceilings, title: str, memory: str = "DRAM") -> Figure:
    """Steps under the measured ceilings of a device, on logarithmic axes.

    points: columns label, intensity and gflops, as from `roofline.points`; several tables can be
    put together. memory: whose bytes the intensity is counted in; its ceiling is drawn strong.
    CourseError without points, and for a point above the ceiling of arithmetic.
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
    ridge = ceilings.gflops / min(ceilings.gb_per_s.values())
    left = min(points["intensity"].min(), 1) / 4
    right = max(points["intensity"].max(), ridge) * 4
    with plots.style():
        height = max(5.2, 2 + plots.LABEL_GAP * len(points))
        figure = Figure(figsize=(9.6, height), dpi=plots.DOTS_PER_INCH, layout="constrained")
        figure.get_layout_engine().set(w_pad=0.15, h_pad=0.12)
        axes = figure.add_subplot()
        axes.loglog()
        axes.set_xlim(left, right)
        axes.set_ylim(points["gflops"].min() / 4, ceilings.gflops * 2)
        _draw_ceilings(axes, ceilings, memory)
        ends = {}
        for rank, point in enumerate(points.itertuples()):
            colour = plots.COLOURS[rank % len(plots.COLOURS)]
            marker = plots.MARKERS[rank % len(plots.MARKERS)]
            # An edge keeps markers apart that lie over each other.
            axes.plot(point.intensity, point.gflops, marker, color=colour, markersize=8, zorder=4,
                      markeredgecolor=plots.CARD, markeredgewidth=0.7)  # fmt: skip
            label = f"{point.label}  {plots.number(point.gflops)}"
            ends[label] = (point.intensity, point.gflops, colour)
        axes.set_xlabel(f"floating-point operations per byte of {_LONG_NAMES.get(memory, memory)}")
        axes.set_ylabel("GFLOP/s")
        axes.grid(which="major")
        axes.set_title(title, loc="left", fontsize=13, fontweight="bold", pad=22)
        axes.annotate(ceilings.where, (0, 1), (0, 6), xycoords="axes fraction",
                      textcoords="offset points", color=plots.QUIET)  # fmt: skip
        plots.label_ends(axes, ends)
        _turn_labels(figure, axes)
    return plots.with_alt(figure, _told(points, ceilings, title, memory))


def _draw_ceilings(axes: Axes, ceilings: Ceilings, memory: str) -> None:
    left, right = axes.get_xlim()
    bottom, _ = axes.get_ylim()
    for name, rate in ceilings.gb_per_s.items():
        ridge = ceilings.gflops / rate
        strong = name == memory
        axes.plot([left, ridge], [left * rate, ceilings.gflops], zorder=2, color=plots.INK,
                  linewidth=1.8 if strong else 1, linestyle="-" if strong else ":")  # fmt: skip
        # Just above the line, where it comes into the picture.
        start = 1.15 * max(left, bottom / rate)
        axes.text(start, 1.06 * start * rate, f"{name} {rate:,.0f} GB/s", fontsize=9, va="bottom",
                  rotation_mode="anchor", color=plots.INK if strong else plots.QUIET,
                  gid=_ALONG)  # fmt: skip
    first = ceilings.gflops / max(ceilings.gb_per_s.values())
    axes.plot([first, right], [ceilings.gflops] * 2, color=plots.INK, linewidth=1.8, zorder=2)
    # Where the ceiling begins, away from the lines that lead to the labels on the right.
    axes.annotate(f"FP32 {ceilings.gflops:,.0f} GFLOP/s", (first, ceilings.gflops), (0, 5),
                  fontsize=9, textcoords="offset points", zorder=5,
                  bbox={"facecolor": plots.CARD, "edgecolor": "none", "pad": 0.5})  # fmt: skip


def _turn_labels(figure: Figure, axes: Axes) -> None:
    """Turn the labels of the memories along their lines, whose slope the layout decides."""
    figure.draw_without_rendering()
    (x0, y0), (x1, y1) = axes.transData.transform([(1, 1), (10, 10)])
    for label in axes.findobj(lambda artist: artist.get_gid() == _ALONG):
        label.set_rotation(math.degrees(math.atan2(y1 - y0, x1 - x0)))


def _told(points: pd.DataFrame, ceilings: Ceilings, title: str, memory: str) -> str:
    """The figure in words: for each step, which part it reaches of what its bytes allow."""
    bound = np.minimum(points["intensity"] * ceilings.gb_per_s[memory], ceilings.gflops)
    steps = "; ".join(
        f"{point.label} {point.gflops:,.0f} GFLOP/s at {point.intensity:.3g} per byte, "
        f"{point.gflops / limit:.0%} of what {memory} and FP32 allow"
        for point, limit in zip(points.itertuples(), bound, strict=True)
    )
    lines = ", ".join(f"{name} {rate:,.0f} GB/s" for name, rate in ceilings.gb_per_s.items())
    return (
        f"Roofline: {title}, {ceilings.where}. GFLOP/s against operations per byte of {memory}, "
        f"under {lines} and FP32 {ceilings.gflops:,.0f} GFLOP/s. {steps}."
    )
