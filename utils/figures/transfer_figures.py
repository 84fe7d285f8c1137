"""Plots of transfers between host and device: bandwidth against bytes, and times of products."""

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
    """Draw GB/s against bytes moved, a colour per kind of transfer; published values are crosses.

    Lines of transfers to the host are dashed. frame: records of one device with `elements` and
    `gb_per_s`, from `transfers --record`. published: columns of `data/published/transfers.csv`.
    here: True if the frame was measured in this session. Raises CourseError if the frame has no
    transfers.
    """
    copies = frame.dropna(subset=["elements", "gb_per_s"])
    if copies.empty:
        raise CourseError(
            "There is no copy to draw: record some with python -m gemm_kernels transfers --record."
        )
    where = where_from(copies, here)
    subtitle = where if published is None else f"{where}; crosses: published"
    sentences, ends = [], {}
    steps = list(copies["step"].unique())
    with style():
        figure = new_figure("Transfers between host and device", subtitle, height=3.9)
        axes = figure.add_subplot()
        for (step, params), line in copies.groupby(["step", "params"], sort=False):
            colour, mark = COLOURS[steps.index(step)], MARKERS[steps.index(step)]
            to_host = params.endswith("to_host")
            line = line.sort_values("elements")
            moved = line["elements"].astype(float) * FLOAT32_BYTES
            axes.plot(moved, line["gb_per_s"], "--" if to_host else "-", color=colour, marker=mark)
            if not to_host:
                ends[step] = (moved.iloc[-1], line["gb_per_s"].iloc[-1], colour)
            direction = params.partition("=")[2].replace("_", " ")
            sentences.append(f"{step}, {direction}: up to {number(line['gb_per_s'].max())}")
        if published is not None:
            rates = published["bytes"] / published["time_ms"].astype(float) / 1e6
            axes.plot(published["bytes"], rates, "x", color=INK, markeredgewidth=1.6)
            low, high = number(rates.min()), number(rates.max())
            sentences.append(f"published, as crosses: {low} to {high}")
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
    return with_alt(figure, f"In GB/s {'; '.join(sentences)}. {where}.")


def times_of_products(
    sizes: Sequence[int], series: Mapping[str, Sequence[float]], where: str
) -> Figure:
    """Draw the time in ms of a product of n×n matrices against n, on logarithmic axes.

    sizes: the values of n. series: name -> the time in ms at each size; at most four series. where:
    the line below the title.
    """
    with style():
        figure = new_figure("One product, from host memory to host memory", where, height=3.9)
        axes = figure.add_subplot()
        ends = {}
        for index, (name, times) in enumerate(series.items()):
            colour = COLOURS[index]
            axes.plot(sizes, times, "-", color=colour, marker=MARKERS[index])
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
    words = [
        f"{name}: {', '.join(f'{number(ms)}' for ms in times)}" for name, times in series.items()
    ]
    at = ", ".join(map(str, sizes))
    return with_alt(figure, f"In ms, at n = {at}. {'; '.join(words)}. {where}.")
