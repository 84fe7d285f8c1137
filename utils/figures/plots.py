"""All functions that draw figures of records: `plots.show(plots.curve(frame, ["naive"]))`.

Every figure is drawn from records, never shows more than 100 % of a peak, names its device, and has
an alt text.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from utils.figures.ladder_figures import staircase
from utils.figures.look import with_alt
from utils.figures.page import as_html, save, show
from utils.figures.points import units_of
from utils.figures.published_figures import published_beside_measured
from utils.figures.share_figures import share_lines
from utils.figures.speed_figures import curve, old_against_new, small_multiples
from utils.figures.transfer_figures import bandwidth_of_transfers, times_of_products

__all__ = [
    "as_html",
    "bandwidth_of_transfers",
    "curve",
    "figures_of",
    "old_against_new",
    "published_beside_measured",
    "save",
    "share_lines",
    "show",
    "small_multiples",
    "staircase",
    "times_of_products",
    "with_alt",
]


def figures_of(frame: pd.DataFrame, title: str) -> dict[str, Figure]:
    """Return name -> figure, for the figures that the command `plot` draws.

    There is one figure of speed against size per unit in the records, called "gflops" or
    "gb_per_s", with a panel per step. "share_of_peak" is the staircase at the largest size that all
    steps have. Each step has its best constants. frame: records of one device. Raises CourseError
    if no row has an efficiency, from which the peak follows, if the steps share no size, for
    several devices, and for more than 100 % of a peak.
    """
    figures = {
        unit: small_multiples(frame.dropna(subset=[unit]), title) for unit in units_of(frame)
    }
    return figures | {"share_of_peak": staircase(frame, f"{title}: share of the peak")}
