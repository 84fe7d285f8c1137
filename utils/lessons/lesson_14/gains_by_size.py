"""A plot of speed-ups against the size of a product, over a step with the same tiles of c."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from utils.figures.labels import label_ends
from utils.figures.look import COLOURS, INK, MARKERS, new_figure, style, with_alt
from utils.figures.points import where_from
from utils.ladder.step import Variant
from utils.machine.devices import REFERENCE
from utils.measuring import records

SIZES = (256, 512, 1024, 2048, 4096, 8192)
BESIDE = 1.14  # the factor by which open marks are to the right of their size, free of other lines


def recorded_gains(base: Variant, variant: Variant) -> pd.Series:
    """Return size -> recorded time of `base` over that of `variant`, of square products.

    It has the sizes of `SIZES` at which the reference device has both records, in ascending order.
    """
    return (_times_of(base) / _times_of(variant)).dropna()


def _times_of(variant: Variant) -> pd.Series:
    """Return size -> recorded ms of a variant's n×n products on the reference device.

    It has the sizes of `SIZES` that are recorded, in ascending order.
    """
    rows = records.measured(REFERENCE, "gemm")
    square = (rows["m"] == rows["n"]) & (rows["n"] == rows["k"]) & rows["m"].isin(SIZES)
    same = (rows["step"] == variant.step.name) & (rows["params"] == variant.params)
    return rows[square & same].set_index("m")["time_ms"].sort_index()


def draw_gains_by_size(base: Variant, same_depth: Variant, faster: Sequence[Variant]) -> Figure:
    """Draw how many times faster than `base` each variant is, against the size of the product.

    All tiles are 128×128 of c. Open marks compare with `same_depth`, the base's variant whose tiles
    also have the same steps of k as those of `faster`, at the sizes that are recorded for it.
    """
    name = base.step.name
    with style():
        rows = records.measured(REFERENCE, "gemm")
        drawn = [name, *(one.step.name for one in faster)]
        where = f"tiles of 128×128, {where_from(rows[rows['step'].isin(drawn)])}"
        figure = new_figure(f"Times faster than {name}", where, height=3.2)
        axes = figure.add_subplot()
        ends, sentences = {name: (SIZES[-1], 1.0, INK)}, []
        for variant, colour, mark in zip(faster, COLOURS, MARKERS, strict=False):
            gains, equal = (recorded_gains(one, variant) for one in (base, same_depth))
            axes.plot(gains.index, gains, color=colour, marker=mark, clip_on=False, zorder=3)
            at = equal.index * BESIDE
            axes.vlines(at, gains[equal.index], equal, color=colour, linestyle=":", linewidth=1.4)
            axes.plot(at, equal, mark, color=colour, markerfacecolor="none", markeredgewidth=1.8)
            ends[variant.step.name] = (gains.index[-1], gains.iloc[-1], colour)
            sentences.append(f"{variant.step.name}: {_told(gains)}; open mark: {_told(equal)}")
        axes.axhline(1, color=INK, linewidth=1.4)
        axes.set_xscale("log", base=2)
        axes.set_xticks(SIZES, map(str, SIZES))
        axes.minorticks_off()
        axes.set_xlim(SIZES[0] / 1.1, SIZES[-1])
        axes.grid(axis="y")
        steps = f"{name} has {base.constants['BK']} steps of k per tile; open marks: it has "
        axes.set_xlabel(f"matrix size m = n = k\n{steps}{same_depth.constants['BK']}", loc="left")
        label_ends(axes, ends)
    return with_alt(figure, f"Times faster than {name}. {'. '.join(sentences)}. {where}.")


def _told(gains: pd.Series) -> str:
    """Return the gains as text, such as "1.02 at 512, 1.06 at 2048"."""
    return ", ".join(f"{gain:.2f} at {size}" for size, gain in gains.items())
