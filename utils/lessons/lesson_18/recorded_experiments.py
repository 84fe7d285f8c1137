"""The records of a ladder with those of an experiment, to draw both in one picture."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from reduce_kernels.remainder import BLOCK


def with_experiment(frame: pd.DataFrame, times: Iterable, kernel: str) -> pd.DataFrame:
    """Return records with further rows for an experiment's kernel, at the lengths of both.

    The new rows are those of reduce3 in blocks of BLOCK threads, with the kernel's name, time,
    bandwidth and efficiency. There are none if the frame's device has no time of this kernel.

    Parameters
    ----------
    frame : pd.DataFrame
        Records of `reduce` on one device, with those of reduce3.
    times : iterable
        Rows of `remainder.csv`, as `reduce_kernels.remainder.recorded_times()` returns them.
    kernel : str
        A kernel of these rows, such as "warps_leave".
    """
    (device,) = set(frame["device"])
    own = [row for row in times if (row.device, row.kernel) == (device, kernel)]
    ms = {row.elements: row.time_ms for row in own}
    rows = frame[(frame["step"] == "reduce3") & (frame["params"] == f"BLOCK={BLOCK}")]
    rows = rows[rows["elements"].isin(ms)]
    own_ms = rows["elements"].map(ms)
    factor = rows["time_ms"] / own_ms
    rates = {name: rows[name] * factor for name in ("gb_per_s", "efficiency")}
    return pd.concat([frame, rows.assign(step=kernel, time_ms=own_ms, **rates)])
