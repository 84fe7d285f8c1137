"""Transfers between host and device: bytes a second against bytes, by each way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from utils.errors import CourseError
from utils.figures.labels import label_ends
from utils.figures.look import COLOURS, INK, MARKERS, new_figure, number, style, with_alt
from utils.figures.points import UNITS, where_from
from utils.ladder.shapes import FLOAT32_BYTES


def bandwidth_of_transfers(
    frame: pd.DataFrame, published: pd.DataFrame | None = None, here: bool = False
) -> Figure:
    """GB/s against bytes moved, a colour for each way; what was published, if given, as crosses.

    To the host a line is dashed. frame: records of one device with `elements` and `gb_per_s`, from
    `transfers --record`. published: columns of `data/published/transfers.csv`. CourseError if the
    frame has no such rows.
    """
    copies = frame.dropna(subset=["elements", "gb_per_s"])
    if copies.empty:
        raise CourseError(
            "There is no copy to draw: record some with python -m gemm_kernels transfers --record."
        )
    where = where_from(copies, here)
    subtitle = where if published is None else f"{where}; crosses: published"
    told, ends = [], {}
    ways = list(copies["step"].unique())
    with style():
        figure = new_figure("Transfers between host and device", subtitle, height=3.9)
        axes = figure.add_subplot()
        for (step, params), line in copies.groupby(["step", "params"], sort=False):
            colour, mark = COLOURS[ways.index(step)], MARKERS[ways.index(step)]
            back = params.endswith("to_host")
            line = line.sort_values("elements")
            moved = line["elements"].astype(float) * FLOAT32_BYTES
            axes.plot(moved, line["gb_per_s"], "--" if back else "-", color=colour, marker=mark)
            if not back:
                ends[step] = (moved.iloc[-1], line["gb_per_s"].iloc[-1], colour)
            direction = params.partition("=")[2].replace("_", " ")
            told.append(f"{step}, {direction}: up to {number(line['gb_per_s'].max())}")
        if published is not None:
            theirs = published["bytes"] / published["time_ms"].astype(float) / 1e6
            axes.plot(published["bytes"], theirs, "x", color=INK, markeredgewidth=1.6)
            told.append(f"published, as crosses: {number(theirs.min())} to {number(theirs.max())}")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.minorticks_off()
        ticks = [2**exponent for exponent in (16, 20, 24, 28)]
        axes.set_xticks(ticks, ["64 KiB", "1 MiB", "16 MiB", "256 MiB"])
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_xlabel("bytes moved; dashed: to the host")
        axes.annotate(UNITS["gb_per_s"], (0, 1), (0, 6), xycoords="axes fraction", ha="right",
                      textcoords="offset points", annotation_clip=False)  # fmt: skip
        axes.grid(axis="y")
        label_ends(axes, ends)
    return with_alt(figure, f"In GB/s {'; '.join(told)}. {where}.")


def times_of_products(sizes: Sequence[int], series: Mapping[str, Sequence[float]], where: str):
    """Milliseconds of a product of n×n against n, both axes logarithmic; at most four series."""
    with style():
        figure = new_figure("One product, from host memory to host memory", where, height=3.9)
        axes = figure.add_subplot()
        ends = {}
        for place, (name, times) in enumerate(series.items()):
            colour = COLOURS[place]
            axes.plot(sizes, times, "-", color=colour, marker=MARKERS[place])
            ends[name] = (sizes[-1], times[-1], colour)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.minorticks_off()
        axes.set_xticks(sizes, [f"{n:,}" for n in sizes])
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_xlabel("n, matrices of n×n")
        axes.annotate("ms", (0, 1), (0, 6), xycoords="axes fraction", ha="right",
                      textcoords="offset points", annotation_clip=False)  # fmt: skip
        axes.grid(axis="y")
        label_ends(axes, ends)
    told = [
        f"{name}: {', '.join(f'{number(ms)}' for ms in times)}" for name, times in series.items()
    ]
    at = ", ".join(map(str, sizes))
    return with_alt(figure, f"In ms, at n = {at}. {'; '.join(told)}. {where}.")
