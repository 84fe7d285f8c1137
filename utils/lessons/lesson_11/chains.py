"""Recorded speeds of multiply-adds in chains, which differ only in the number of chains."""

from __future__ import annotations

import pandas as pd

from utils.errors import CourseError
from utils.machine.occupancy import WARP


def share_of_loop(curves: pd.DataFrame, chains: int, warps: int) -> float:
    """Return the recorded speed of chains on all SMs, as a fraction of that of the fastest loop.

    Parameters
    ----------
    curves : DataFrame
        The rows of `latency_curves.csv` of one device.
    chains : int
        The number of independent chains of multiply-adds per thread.
    warps : int
        The number of resident warps per SM.

    Raises
    ------
    CourseError
        If there is no such record.
    """
    arithmetic = curves[curves["experiment"] == "arithmetic"]
    found = arithmetic[
        (arithmetic["sms"] == arithmetic["sms"].max())
        & (arithmetic["floats"] == chains)
        & (arithmetic["threads_per_sm"] == WARP * warps)
    ]
    if found.empty:
        raise CourseError(
            f"There is no record of {chains} chains with {warps} warps per SM: choose a number of "
            "warps from latency_curves.csv."
        )
    return float(found["share"].iloc[0])
