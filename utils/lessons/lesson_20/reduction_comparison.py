"""Recorded reductions: a table of their rates, and a picture of the parts of their time."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from utils.errors import CourseError
from utils.ladder.ladder import ladder_of
from utils.ladder.shapes import in_print
from utils.ladder.step import Step
from utils.lessons.cards import Table, table
from utils.lessons.counting import as_step
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import NOTHING, ms_if_any, recorded_ms, share_of_peak
from utils.measuring import records
from virtual_gpu.pictures.svg import BLUE, ORANGE, Picture, legend, rect, svg, text

ITEM = 4  # bytes per float32
_WIDTH, _START, _BAR = 426, 74, 300  # the width of the picture, and the place of its bars


def parts_of_time(step: Step, *shapes: str) -> Picture:
    """Draw a step's recorded time per shape as a bar: the part that memory needs, and the rest.

    All bars have the same length. The time and its parts are labelled in us. Memory has the rate of
    the data sheet. Raises CourseError if there is no record.
    """
    colours = legend(memory_at_the_rate_of_the_data_sheet=BLUE, rest=ORANGE)
    rows = [(one, 1000 * recorded_ms(step, one), share_of_peak(step, one)) for one in shapes]
    body = "".join(_parts(8 + 40 * row, *one) for row, one in enumerate(rows))
    alt = f"The time of {step.name} on one {device_shown().name}. " + " ".join(
        f"{in_print(shape)} floats take {time:.2f} us: {share * time:.2f} us for memory, and "
        f"{(1 - share) * time:.2f} us are the rest." for shape, time, share in rows
    )  # fmt: skip
    return Picture(colours + svg(_WIDTH, 40 * len(rows), body, alt, widest=600), alt)


def _parts(y: float, shape: str, time: float, share: float) -> str:
    """Return SVG of one bar with its top at y. time: in us. share: the part that memory needs."""
    memory, middle = share * _BAR, y + 21
    body = text(0, y + 13, in_print(shape), 13, font_weight="bold")
    body += text(0, y + 29, f"{time:.2f} us", 12)
    body += rect(_START, y, memory, 32, BLUE) + rect(_START + memory, y, _BAR - memory, 32, ORANGE)
    inside = {"style": "fill:#fff", "font_weight": "bold"}
    body += text(_START + 8, middle, f"{share * time:.2f}", 13, **inside)
    outside = {"style": f"fill:{ORANGE}", "font_weight": "bold"}
    return body + text(_START + _BAR + 6, middle, f"{(1 - share) * time:.2f}", 13, **outside)


def rates(ways: Mapping[str, Step], *shapes: str) -> Table:
    """Return a table of the recorded GB/s of steps and of the library, one row each.

    The library has the last row. Steps have their fastest constants; there is one column per shape.
    ways: name shown -> step. The library was timed together with each of the steps; its median is
    shown. A step without a record has "–" in its cells. Raise CourseError for steps that are no
    reductions.
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
