"""Records as the points of a figure: their sizes, labels and values, and the peak."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from utils.errors import CourseError
from utils.figures.labels import MOST_LABELS
from utils.ladder.shapes import GemmShape, ReduceShape
from utils.machine.devices import fraction_of_peak
from utils.measuring.records import fastest
from utils.translation import translate

UNITS = {"gflops": "GFLOP/s", "gb_per_s": "GB/s"}


def points_of(frame: pd.DataFrame, peak: float, unit: str) -> pd.DataFrame:
    """Return a table with one row per step and size, the rows of a step together, smallest first.

    The steps are in the order of their first rows in `frame`. Of several rows of a step and size,
    the row with the best constants remains. unit: the column whose values are drawn; rows without a
    value are left out. New columns are size (its number on
    the axis), size_label, value, library_value (NaN without a library), and order (the step's index
    among the steps, from 0). Raises CourseError if no row has a value, for several devices, and for
    a value of a step or of the library above `peak`.
    """
    points = frame.dropna(subset=[unit]).reset_index(drop=True)
    if points.empty:
        raise CourseError(f"There is nothing to draw: no row has a value in '{unit}'.")
    _one_device(points)
    points = points.assign(
        size=_sizes(points),
        size_label=[_size_label(row) for row in points.itertuples()],
        value=points[unit].astype(float),
        library_value=points[unit] * points["time_ms"] / points["library_ms"],
    )
    for row in points.itertuples():
        at = f"{row.device} at {row.size_label}"
        fraction_of_peak(row.value, peak, f"{row.step} on {at}")
        fraction_of_peak(row.library_value, peak, f"{row.library} on {at}")
    points = fastest(points, ("step", "size"))
    points["order"] = pd.factorize(points["step"])[0]
    return points.sort_values(["order", "size"])


def peak_of(frame: pd.DataFrame, unit: str) -> float:
    """Return the median peak of the rows that have a speed in `unit`; NaN if none has a peak.

    unit: "gflops" or "gb_per_s", which is also the unit of the peak. The peak of a row that was
    recorded without one follows from the efficiency and is only as precise as that.
    """
    return frame.loc[frame[unit].notna(), "peak"].median()


def units_of(frame: pd.DataFrame) -> list[str]:
    """Return the units, "gflops" or "gb_per_s", in which a row has a value and a share of the peak.

    Raises CourseError if there is none.
    """
    units = [unit for unit in UNITS if not frame.dropna(subset=[unit, "efficiency"]).empty]
    if not units:
        raise CourseError(
            "There is nothing to draw: no row has an efficiency; record it where a peak is known."
        )
    return units


def squares(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of reductions and of square products; if there are none, all rows.

    Another shape of the same size has another speed, which would make a dent in a line over the
    sizes.
    """
    even = frame["elements"].notna() | ((frame["m"] == frame["n"]) & (frame["n"] == frame["k"]))
    return frame[even] if even.any() else frame


def need_steps(frame: pd.DataFrame, steps: Sequence[str]) -> None:
    """Raise CourseError unless the frame has a row of each of the steps."""
    present = list(frame["step"].unique())
    for step in steps:
        if step not in present:
            raise CourseError(
                f"The table has no rows of '{step}': its steps are {', '.join(present) or 'none'}."
            )


def library_of(points: pd.DataFrame) -> pd.Series:
    """Return size -> the library's median speed, as a Series; it is empty without a library."""
    return points.dropna(subset=["library_value"]).groupby("size")["library_value"].median()


def library_name(points: pd.DataFrame) -> str:
    """Return the name of the library in the points; several are joined by commas, "" if none."""
    return ", ".join(points["library"][points["library_value"].notna()].unique())


def size_labels(points: pd.DataFrame) -> pd.Series:
    """Return a Series from each size to its label, in ascending order of the sizes."""
    return points.drop_duplicates("size").set_index("size")["size_label"].sort_index()


def where_from(frame: pd.DataFrame, here: bool = False) -> str:
    """Return when and where the rows were measured, such as "recorded 2026-11-21 on NVIDIA H200".

    The words are in the reader's language. Rows of several days give "recorded 2026-11-21 to
    2026-11-23 on …". here: True for rows that were measured in this session, for "measured here
    on …". Raises CourseError for rows of several devices.
    """
    first, last = frame["date"].min(), frame["date"].max()
    device = _one_device(frame)
    if here:
        return translate("measured here on {device}", device=device)
    if first == last:
        return translate("recorded {day} on {device}", day=first, device=device)
    return translate(
        "recorded {first} to {last} on {device}", first=first, last=last, device=device
    )


def climbers(values: pd.Series) -> pd.Series:
    """Return the positive values that are greater than all values before them, as a Series.

    They keep their index.
    """
    return values[values > values.cummax().shift(fill_value=0)]


def milestones(values: pd.Series, most: int = MOST_LABELS) -> list[str]:
    """Return the names of the first value, the highest value, and the greatest rises between them.

    A rise is a value over the highest value before it; only values above all before them count.
    values: Series by name, in the ladder's order, each above 0. most: the greatest number of names,
    at least 2. The names are in the order of `values`.
    """
    steps = climbers(values)
    rises = steps / steps.shift()
    between = rises.iloc[1:-1].nlargest(most - 2).index
    chosen = {steps.index[0], *between, steps.index[-1]}
    return [name for name in values.index if name in chosen]


def _one_device(frame: pd.DataFrame) -> str:
    """Return the name of the only device in a table; raise CourseError if there are several."""
    names = frame["device"].unique()
    if len(names) > 1:
        raise CourseError(
            f"The table holds records of {' and '.join(names)}: choose one device for a figure."
        )
    return names[0]


def _sizes(frame: pd.DataFrame) -> pd.Series:
    """Return each row's number on the size axis: its elements, or the cube root of m·n·k.

    Raises CourseError for a row that has neither.
    """
    volume = frame[["m", "n", "k"]].astype(float).prod(axis=1, skipna=False)
    sizes = frame["elements"].astype(float).fillna(np.cbrt(volume))
    if sizes.isna().any():
        step = frame["step"][sizes.isna()].iloc[0]
        raise CourseError(f"A row of '{step}' has neither m, n and k nor elements: choose others.")
    return sizes


def _size_label(row) -> str:
    """Return a record's size as text: "4096" for a cube, else such as "512×64×4096" or "2³⁰"."""
    if pd.isna(row.elements):
        return str(row.n) if row.m == row.n == row.k else str(GemmShape(row.m, row.n, row.k))
    return str(ReduceShape(int(row.elements)))
