"""Tables that compare reductions: launches, memory, rates, and the order of their additions."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from types import SimpleNamespace

import numpy as np
import pandas as pd

from utils.errors import CourseError
from utils.ladder.ladder import ladder_of
from utils.ladder.step import Step
from utils.lessons.cards import Table, table
from utils.lessons.counting import as_step, as_variant, watch
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import NOTHING, ms_if_any
from utils.measuring import records

ITEM = 4  # bytes per float32


def ways_with_a_free_order(ways: Mapping[str, Step], shape: str = "10007") -> list[str]:
    """Return the names of the reductions that add with an atomic on `out`, in the order of `ways`.

    Their blocks add to the result in the order in which they finish. ways: name -> step. shape: the
    problem size as on the command line, at which the virtual GPU counts.
    """
    return [
        name
        for name, step in ways.items()
        if any((one.array, one.kind) == ("out", "atomic")
               for one in watch(step, shape).access_counts)
    ]  # fmt: skip


def launches_and_memory(ways: Mapping[str, Step], shape: str) -> Table:
    """Return a table of the launches and the additional bytes of several reductions, one row each.

    ways: name shown -> step of the ladder of reductions. shape: the problem size as on the command
    line. x and out do not count as additional memory.
    """
    rows = []
    for name, step in ways.items():
        launches, memory = needed(step, shape)
        rows.append((name, launches, f"{memory:,} bytes"))
    caption = f"{ladder_of(as_step(next(iter(ways.values())))).parse(shape)} elements"
    return table(caption, ("", "launches", "memory besides x and out"), rows)


def needed(step: Step, shape: str) -> tuple[int, int]:
    """Return (number of launches, allocated bytes) of one execution of a step.

    The input x and the result out do not count as allocated. Nothing is launched or allocated.
    """
    allocations = []

    def allocate(count, dtype, **_):
        """Record the bytes of an array, and return an object that stands for the array.

        count: the number of elements, or a shape. The object has the attributes `size` and `shape`.
        """
        allocations.append(prod(np.atleast_1d(count)) * np.dtype(dtype).itemsize)
        return SimpleNamespace(size=int(count), shape=(int(count),))

    variant = as_variant(step)
    calls = variant.calls(ladder_of(variant.step).parse(shape), (None,), None, allocate)
    return len(calls), int(sum(allocations))


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
    """Return the number of elements that a shape such as "2^30" or "10007" names."""
    base, _, exponent = shape.partition("^")
    return int(base) ** int(exponent or 1)
