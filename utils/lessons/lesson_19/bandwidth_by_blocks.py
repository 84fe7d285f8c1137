"""A figure of a reduction's share of the bandwidth against its number of blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from utils.figures.labels import label_ends
from utils.figures.look import COLOURS, INK, MARKERS, QUIET, new_figure, style, with_alt
from utils.machine.devices import fraction_of_peak

Curve = Sequence[tuple[int, float]]  # (blocks, share), fewest blocks first
_DOTS = (0, (1, 1.6))
_FIRST, _STEP = 64, 32  # the first tick, and the factor between ticks


def shares_by_blocks(
    curves: Mapping[str, Curve], enough: float, concurrent_blocks: int, where: str
) -> Figure:
    """Draw recorded shares of the bandwidth against the number of blocks, with Little's law dotted.

    Parameters
    ----------
    curves : mapping of str to sequence of (int, float)
        Pairs of blocks and share, a fraction, fewest blocks first, by the label of their curve.
    enough : float
        The number of blocks that Little's law needs for the full bandwidth.
    concurrent_blocks : int
        The number of blocks that run at once on the device.
    where : str
        The line below the title.

    Raises
    ------
    CourseError
        If a share is above 1.
    """
    with style():
        figure = new_figure("How many blocks?", where, height=3.9)
        axes = figure.add_subplot()
        ends = {}
        for (label, curve), colour, mark in zip(curves.items(), COLOURS, MARKERS, strict=False):
            blocks, shares = zip(*curve, strict=True)
            fraction_of_peak(max(shares), 1.0, label)
            percent = 100 * np.array(shares)
            axes.plot(blocks, percent, color=colour, marker=mark, clip_on=False, zorder=3)
            ends[label] = (blocks[-1], percent[-1], colour)
        least, most = (pick(blocks for curve in curves.values() for blocks, _ in curve)
                       for pick in (min, max))  # fmt: skip
        law = np.geomspace(least, most, 200)
        axes.plot(law, 100 * np.minimum(1, law / enough), color=INK, linestyle=_DOTS, linewidth=2.2)
        axes.axvline(concurrent_blocks, color=QUIET, linestyle="--", linewidth=1)
        axes.annotate(f"{concurrent_blocks:,} run at once", (concurrent_blocks, 3), (6, 0),
                      color=QUIET, textcoords="offset points")  # fmt: skip
        axes.annotate(f"{enough:,.0f}", (enough, 100), (-4, -4), color=INK, ha="right", va="top",
                      textcoords="offset points")  # fmt: skip
        ticks = _FIRST * _STEP ** np.arange(1 + int(np.log(most / _FIRST) / np.log(_STEP) + 1e-9))
        axes.set_xscale("log")
        axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        axes.minorticks_off()
        axes.set_xlim(least / 1.2, most)
        axes.set_ylim(0, 101)
        axes.yaxis.set_major_formatter("{x:g} %")
        axes.set_xlabel("blocks; dotted: Little's law")
        axes.annotate("of the bandwidth", (0, 1), (-34, 8), xycoords="axes fraction",
                      textcoords="offset points", annotation_clip=False)  # fmt: skip
        axes.grid(axis="y")
        label_ends(axes, ends)
    return with_alt(figure, _alt_text(curves, enough, where))


def _alt_text(curves: Mapping[str, Curve], enough: float, where: str) -> str:
    """Return the alt text: each curve's first, greatest and last share, with the blocks of each.

    enough: the number of blocks that Little's law needs. where: the line below the title.
    """
    descriptions = "; ".join(
        f"{label}: {curve[0][1]:.0%} with {curve[0][0]:,}, at most "
        f"{max(share for _, share in curve):.0%} with {max(curve, key=lambda one: one[1])[0]:,}, "
        f"and {curve[-1][1]:.0%} with {curve[-1][0]:,}"
        for label, curve in curves.items()
    )
    return (
        f"Share of the bandwidth against the number of blocks. {descriptions}. By Little's law "
        f"{enough:.0f} blocks are enough. {where}."
    )
