"""Speed against size, with the same constants of a kernel at all sizes."""

from __future__ import annotations

import pandas as pd

from utils.figures import plots
from utils.lessons.lesson import device_shown
from utils.measuring import records

MARKED = ("ilp", "register_blocked", "vectorized")


def show_curve() -> None:
    """Show speed against size for this lesson's step and those before it; one kernel per line."""
    recorded = records.measured(device_shown().name, "gemm")
    plots.show(plots.curve(one_kernel_per_step(recorded), MARKED))


def one_kernel_per_step(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the records of each step with the constants that are recorded most often.

    frame: records of one device, with the columns "step" and "params". Of constants that are
    recorded equally often, the first ones are kept.
    """
    kernels = frame["step"] + " " + frame["params"].fillna("")
    often = kernels.groupby(frame["step"]).agg(lambda names: names.value_counts().index[0])
    return frame[kernels.isin(often)]
