"""Bars that compare published with measured speeds, in percent of each device's peak."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from utils.errors import CourseError
from utils.figures.look import COLOURS, POINTS_PER_INCH, QUIET, new_figure, style, with_alt
from utils.figures.points import points_of, where_from
from utils.machine.devices import find, fraction_of_peak

# Heights in points: a kernel's heading, and a bar with its line of text.
_HEADING, _BAR = 22, 26


def published_beside_measured(
    published: pd.DataFrame,
    measured: pd.DataFrame,
    title: str = "Published and measured",
    here: bool = False,
) -> Figure:
    """Draw bars of published and of measured speeds, in percent of each device's peak.

    published: columns of `data/published/gemm_gpu.csv`. measured: records of one device. Published
    bars are grey, measured ones in colour. A kernel and a step of the same name form one group, so
    rename what should be compared. Each bar is the best value on its device; a row without a
    percentage and without a known peak is left out. Rates counted in units of 2^30 are converted to
    10^9. here: True if `measured` was measured in this session. Raises CourseError if either table
    has nothing to show, and for more than 100 %.
    """
    recorded = points_of(measured, 1.0, "efficiency")
    recorded = pd.DataFrame(
        {
            "kernel": recorded["step"],
            "who": f"{recorded['device'].iloc[0]}, {recorded['date'].max()[:4]}, ours",
            "percent": 100 * recorded["value"],
            "colour": COLOURS[0],
        }
    )
    bars = pd.concat([published_percent(published).assign(colour=QUIET), recorded])
    bars = bars.groupby(["kernel", "who", "colour"], sort=False, as_index=False)["percent"].max()
    where = f"best size of each; ours {where_from(measured, here)}"
    with style():
        points_high = _HEADING * bars["kernel"].nunique() + _BAR * len(bars)
        height = 0.75 + points_high / POINTS_PER_INCH
        figure = new_figure(title, where, height)
        axes = figure.add_subplot()
        _draw_groups(axes, bars)
        axes.set_xlim(0, 100)
        axes.set_xlabel("% of the data sheet's peak\n(counts with 2³⁰ converted to 10⁹: ×1.0737)")
        axes.grid(axis="x")
    return with_alt(figure, f"{_alt_text(bars)} {where}.")


def published_percent(published: pd.DataFrame) -> pd.DataFrame:
    """Return the published speeds as a table with the columns kernel, who and percent.

    published: columns of `data/published/gemm_gpu.csv`. `who` is the device and, if it is known,
    the year. `percent` is the percentage of the data sheet's peak if this is known, else the
    published percentage; rows without either are left out. Raises CourseError if no row is left,
    and for more than 100 %.
    """
    work = 2 * published[["m", "n", "k"]].astype(float).prod(axis=1, skipna=False)
    timed = work / published["time_ms"].astype(float) / 1e6
    gflops = published["gflops"].astype(float).fillna(timed)
    binary = (published["gflops_base"] == "2^30").fillna(False).astype(bool)
    gflops = gflops.where(~binary, gflops * 2**30 / 1e9)
    percent = 100 * gflops / published["device"].map(_peak_gflops)
    table = pd.DataFrame(
        {
            "kernel": published["kernel"],
            "who": [
                device if pd.isna(year) else f"{device}, {year}"
                for device, year in published[["device", "year"]].values
            ],
            "percent": percent.fillna(published["efficiency_pct"].astype(float)),
        }
    ).dropna()
    if table.empty:
        raise CourseError("No published figure has a percentage or a known peak: choose others.")
    for kernel, who, percent in table.values:
        fraction_of_peak(percent, 100, f"{kernel} on {who}")
    return table


def _peak_gflops(device: str) -> float:
    """Return a device's peak in GFLOP/s; NaN if `data/devices.csv` lacks the device."""
    try:
        return find(device).peak_gflops
    except CourseError:
        return np.nan


def _draw_groups(axes: Axes, bars: pd.DataFrame) -> None:
    """Draw the bars below each other, with a heading per kernel, and hide the y-axis.

    bars: columns kernel, who, colour and percent. The y-axis counts points (1/72 inch) downwards.
    """
    row = 0
    for kernel, group in bars.groupby("kernel", sort=False):
        row += _HEADING
        axes.text(0, row - 6, kernel, fontweight="bold")
        for bar in group.itertuples():
            axes.text(0, row + 11, bar.who)
            axes.text(100, row + 11, f"{bar.percent:.1f} %", ha="right")
            axes.barh(row + 18, bar.percent, color=bar.colour, height=8)
            row += _BAR
    axes.set_ylim(row + 4, 0)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def _alt_text(bars: pd.DataFrame) -> str:
    """Return the alt text: the percentages that each kernel reaches, with their devices."""
    kernels = []
    for kernel, group in bars.groupby("kernel", sort=False):
        shares = ", ".join(f"{bar.percent:.1f} % on {bar.who}" for bar in group.itertuples())
        kernels.append(f"{kernel} reaches {shares}")
    return f"Of each device's peak {'; '.join(kernels)}."
