"""Tables of recorded reductions: their rates, and the parts of their time."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from utils.errors import CourseError
from utils.ladder.ladder import ladder_of
from utils.ladder.step import Step
from utils.lessons.cards import Table, table
from utils.lessons.counting import as_step
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import NOTHING, ms_if_any, recorded_ms, share_of_peak
from utils.measuring import records

ITEM = 4  # bytes per float32


def parts_of_time(step: Step, *shapes: str) -> Table:
    """Return a table of a step's recorded time in us, one row per shape.

    The columns are the time, the part that memory needs at the rate of the data sheet, and the
    rest. Raises CourseError if there is no record.
    """
    rows = []
    for shape in shapes:
        time = 1000 * recorded_ms(step, shape)
        memory = share_of_peak(step, shape) * time
        parts = (f"{one:.2f}" for one in (time, memory, time - memory))
        rows.append((ladder_of(step).parse(shape), *parts))
    head = ("floats", "recorded, us", "memory, us", "rest, us")
    return table(f"{step.name} on one {device_shown().name}", head, rows)


def rates(ways: Mapping[str, Step], *shapes: str) -> Table:
    """Return a table of the recorded GB/s of steps and of the library, one row each.

    Steps have their fastest constants; there is one column per shape. ways: name shown -> step. The
    library was timed together with each of the steps; its median is shown. A step without a record
    has "–" in its cells. Raise CourseError for steps that are no reductions.
    """
    ladder, device = ladder_of(as_step(next(iter(ways.values())))), device_shown()
    frame = records.measured(device.name, ladder.name)
    if "elements" not in vars(ladder.parse(ladder.small)):
        raise CourseError(f"The {ladder.name} ladder has no reductions: choose steps that add up.")
    rows = [(name, *(_rate(ms_if_any(step, one), one) for one in shapes))
            for name, step in ways.items()]  # fmt: skip
    library = frame["library"].dropna().iloc[0]
    rows.append((library, *(_rate(library_ms(frame, ladder, one), one) for one in shapes)))
    head = ("GB/s", *(str(ladder.parse(one)) for one in shapes))
    return table(f"Recorded on one {device.name}", head, rows)


def library_ms(frame: pd.DataFrame, ladder, shape: str) -> float:
    """Return the median of the library's recorded times in ms at a shape.

    `frame` are the records of the ladder, each with the library's time in the same run.
    """
    rows = frame[frame["elements"] == ladder.parse(shape).elements]
    return float(rows["library_ms"].median())


def _rate(ms: float | None, shape: str) -> str:
    """Return GB/s as text for a sum that reads all elements in `ms`; "–" for None."""
    return NOTHING if ms is None else f"{ITEM * _elements(shape) / ms / 1e6:,.0f}"


def _elements(shape: str) -> int:
    """Return the number of elements that a shape such as "2^30" names."""
    base, _, exponent = shape.partition("^")
    return int(base) ** int(exponent or 1)
