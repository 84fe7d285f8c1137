"""Recorded times of steps: of the device at hand where it has records, else of the course's own."""

from __future__ import annotations

import pandas as pd

from utils.errors import CourseError
from utils.ladder.ladder import Ladder
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Table, table
from utils.lessons.lesson import device_shown
from utils.measuring import records


def recorded_ms(step: Step | Variant, shape: str = "4096") -> float:
    """The recorded time in ms; of a Step with the constants that were fastest at this shape.

    shape: as on the command line. CourseError where nothing is recorded.
    """
    return float(_row(step, shape)["time_ms"])


def share_of_peak(step: Step | Variant, shape: str = "4096") -> float:
    """The recorded share of the data sheet's peak, as a fraction."""
    return float(_row(step, shape)["efficiency"])


def times(*steps: Step | Variant, shape: str = "4096") -> Table:
    """Recorded times of several steps; how much faster than the first; the share of the peak."""
    rows = [(step, _row(step, shape)) for step in steps]
    first = rows[0][1]["time_ms"]
    cells = [
        (
            f"`{getattr(step, 'name', step)}`",
            f"{row['time_ms']:.3g} ms",
            f"{first / row['time_ms']:.2f}×",
            f"{row['efficiency']:.1%}",
        )
        for step, row in rows
    ]
    ladder, device = _ladder(steps[0]), device_shown().name
    caption = f"{ladder.parse(shape)}, recorded on one {device}"
    return table(caption, ("", "time", "faster", "of the peak"), cells)


def _ladder(step: Step | Variant) -> Ladder:
    return (step if isinstance(step, Step) else step.step).ladder


def _row(step: Step | Variant, shape: str) -> pd.Series:
    ladder, device = _ladder(step), device_shown().name
    name, params = (step.name, None) if isinstance(step, Step) else (step.step.name, step.params)
    frame = records.measured(device, ladder.name)
    size = vars(ladder.parse(shape))
    found = frame[(frame["step"] == name) & (frame[list(size)] == pd.Series(size)).all(axis=1)]
    if params is not None:
        found = found[found["params"] == params]
    if found["time_ms"].notna().sum() == 0:
        raise CourseError(
            f"There is no recorded time of {step if params else name} at {ladder.parse(shape)} on "
            f"{device}: `--record` on the ladder's command line makes one."
        )
    return records.fastest(found, ("step",)).iloc[0]
