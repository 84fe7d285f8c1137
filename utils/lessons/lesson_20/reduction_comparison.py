"""Tables that compare reductions: bytes in flight, launches, memory, rates and calls."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from types import SimpleNamespace

import numpy as np
import pandas as pd

from gpu_xray import xray
from gpu_xray.widths import GLOBAL_LOADS, widest
from utils.errors import CourseError
from utils.figures.look import number
from utils.ladder.ladder import ladder_of
from utils.ladder.step import Step
from utils.lessons.cards import Card, Table, table
from utils.lessons.counting import as_step, as_variant
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import NOTHING, ms_if_any
from utils.machine.occupancy import limits_of
from utils.measuring import records

ITEM = 4  # bytes per float32


def bytes_under_way(**steps: Step) -> Table | Card:
    """Tabulate the bytes that each step loads before it uses the first of them, one row per step.

    The columns are the loads in flight per thread, the bytes of each load, the bytes in flight per
    thread, and the KiB in flight in an SM that is full of threads. Without a compiler, return a
    card that says why there is no table.
    """
    device = device_shown()
    threads = limits_of(device.compute_capability).threads_per_sm
    rows = []
    for name, step in steps.items():
        try:
            variant = as_variant(step)
            kernel_xray = xray(variant.kernel, variant.step.signature, device.arch)
        except CourseError as error:
            return Card("ask", (f"{error} The lesson goes on without this table.",))
        loads, width = kernel_xray.loads_before_use, widest(kernel_xray.code, GLOBAL_LOADS) // 8
        rows.append((name, loads, width, loads * width, f"{threads * loads * width / 1024:g}"))
    head = ("", "loads", "bytes of each", "bytes in a thread", "KiB in an SM")
    return table(
        f"Under way before the first use, compiled for {device.arch}", head, rows,
        f"In an SM: with {threads:,} threads.",
    )  # fmt: skip


def launches_and_memory(ways: Mapping[str, Step], shape: str) -> Table:
    """Tabulate the launches and the extra memory, in bytes, of several reductions, one row each.

    `ways` are steps of the ladder of reductions, by the name that the reader sees. `shape` is the
    problem size as on the command line.
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
        allocations.append(prod(np.atleast_1d(count)) * np.dtype(dtype).itemsize)
        return SimpleNamespace(size=int(count), shape=(int(count),))

    variant = as_variant(step)
    calls = variant.calls(ladder_of(variant.step).parse(shape), (None,), None, allocate)
    return len(calls), int(sum(allocations))


def rates(ways: Mapping[str, Step], *shapes: str) -> Table:
    """Tabulate the recorded GB/s of each step with its fastest constants, and of the library.

    There is one row per step, one for the library, and one column per shape. The library ran beside
    each of the steps; its median is shown. A step without a record has "–" in its cells. Raise
    CourseError for steps that are no reductions.
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
    return NOTHING if ms is None else f"{ITEM * _elements(shape) / ms / 1e6:,.0f}"


def _elements(shape: str) -> int:
    base, _, exponent = shape.partition("^")
    return int(base) ** int(exponent or 1)


def as_called(*shapes: str) -> Table | Card:
    """Tabulate the recorded times in us of whole `reduce` calls from Python, one row per shape.

    The columns are the times without and with `out`, each with the library's time beside it. Return
    a card that says so if no calls are recorded.
    """
    device = device_shown()
    file = records.file_of(device.name, "as_called")
    if not file.exists():
        return Card("ask", (f"Calls are not recorded on one {device.name}.",))
    frame = pd.read_csv(file)
    rows = []
    for shape in shapes:
        cells = [shape]
        for function in ("reduce", "reduce into out"):
            row = frame[(frame["function"] == function) & (frame["elements"] == _elements(shape))]
            cells += [f"{number(row['time_us'].iloc[0])} us"]
            cells += [f"{number(row['library_us'].iloc[0])} us"]
        rows.append(tuple(cells))
    head = ("elements", "without out", "library", "with out", "library")
    return table(f"A whole call, recorded on one {device.name}", head, rows)
