"""The reader's own kernel on a GPU: timed alternately with the course's step and the library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from utils.errors import CourseError
from utils.figures import plots
from utils.ladder import kept_functions
from utils.ladder.ladder import ladder_of
from utils.lessons.cards import Card, Stack, Table, table
from utils.lessons.comparison import nothing_yet
from utils.lessons.own_kernels import Twin, mine, twins
from utils.lessons.recorded import duration
from utils.machine import devices
from utils.measuring import measure, records
from utils.measuring.records import Record
from utils.translation import translate


@dataclass(frozen=True)
class Figure:
    """A figure of `utils.figures.plots` with its alt text, which a notebook shows as SVG."""

    figure: object

    def __str__(self) -> str:
        return self.figure.alt_text

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return plots.as_html(self.figure)


def race(name: str, shape: str = "") -> Stack | Card:
    """Time the reader's right kernel, the course's step and the library alternately on this GPU.

    The table has their times and their shares of the data sheet's peak, and the figure puts the
    reader's kernel on the curve of the recorded steps. Inputs are not in the cache, and a time is a
    median. A CPU function is timed on this computer's CPU, and has no figure.

    Parameters
    ----------
    name : str
        The name of the exercise, such as "tree".
    shape : str
        The problem size as on the command line; by default the lesson's shape.

    Returns
    -------
    Stack or Card
        The table and the figure. A card with one sentence if there is no right kernel yet, no step
        of the course to race against, no GPU for a kernel that needs one, or if a kernel cannot be
        timed, such as one whose result is wrong at this shape.
    """
    if not kept_functions.kept_text(name):
        return nothing_yet(name)
    try:
        return _raced(name, shape)
    except CourseError as error:
        return Card("ask", (str(error),))


def _raced(name: str, shape: str) -> Stack | Card:
    """Return a Stack of a table of times and, if the course's step runs on the GPU, a figure.

    If that step needs a GPU and there is none, it is a Card with a sentence instead.

    name: the exercise's name. shape: as on the command line; "" for the lesson's shape. Raises
    CourseError if there is no step of the course to race against, and as `raced` does.
    """
    if name not in twins():
        raise CourseError(
            translate(
                "The course has no step that does the work of your `{name}`, so there is nothing "
                "to race against.",
                name=name,
            )
        )
    twin = twins()[name]
    shape = shape or twin.shape
    if ladder_of(twin.step).on_gpu and devices.current() is None:
        return Card("ask", (_without_a_gpu(twin, name, shape),))
    rows = raced(name, shape)
    ladder = ladder_of(twin.step)
    shown = [_times(rows, f"{ladder.parse(shape)}, in turns on one {rows[0].device}")]
    if ladder.on_gpu:
        shown.append(Figure(_curve(twin, rows)))
    return Stack(tuple(shown))


def raced(name: str, shape: str = "") -> tuple[Record, Record]:
    """Time the reader's kernel and the course's step here; return both records, in this order.

    name: the exercise's name. shape: as on the command line; "" for the lesson's shape. Both
    records have the time of the library in the same run, if there is one. Raises CourseError if
    there is no right kernel, if a result is wrong on the inputs that are timed, or if a speed is
    above the peak. Raises KeyError if no step of the course does the same work.
    """
    own, twin = mine(name), twins()[name]
    ladder = ladder_of(twin.step)
    device = devices.current() if ladder.on_gpu else None
    problem = ladder.parse(shape or twin.shape)
    return measure.race(ladder, (own, twin.variant), problem, device)


def _without_a_gpu(twin: Twin, name: str, shape: str) -> str:
    """Return a sentence on what the cell would time on a GPU.

    name: the exercise's name. shape: as on the command line.
    """
    library = ladder_of(twin.step).library
    rivals = f"`{twin.step.name}`" + (f" and {library.name}" if library else "")
    return translate(
        "On a GPU, this cell times your `{name}`, the course's {rivals} in turns at {shape}, and "
        "puts your time on the lesson's curve.",
        name=name,
        rivals=rivals,
        shape=ladder_of(twin.step).parse(shape),
    )


def _times(rows: Sequence[Record], caption: str) -> Table:
    """Return a table of times, rates and shares of the peak: yours, the course's, the library's.

    rows: the records of your kernel and of the course's, in this order. The library's row is
    missing if the first record has no time of it. caption: the table's caption.
    """
    mine, course = rows
    unit = _unit(mine)
    cells = [
        _cells(translate("your {step}", step=mine.step), mine.time_ms, mine, unit),
        _cells(course.step, course.time_ms, mine, unit),
    ]
    if mine.library_ms:
        cells.append(_cells(mine.library, mine.library_ms, mine, unit))
    head = ("", "time", {"gflops": "GFLOP/s", "gb_per_s": "GB/s"}[unit], "of the peak")
    return table(caption, head, cells)


def _unit(row: Record) -> str:
    """Return the column with the speed: "gflops" if the record has it, else "gb_per_s"."""
    return "gflops" if row.gflops is not None else "gb_per_s"


def _cells(name: str, ms: float, mine: Record, unit: str) -> tuple[str, ...]:
    """Return a row of the table: the name, the time, the rate and the share of the peak, as text.

    ms: the time of the kernel in the row. mine: the reader's record, whose work all rivals do.
    unit: "gflops" or "gb_per_s". The share is "–" if the peak is not known.
    """
    rate = getattr(mine, unit) * mine.time_ms / ms
    share = f"{rate / mine.peak:.1%}" if mine.peak else "–"
    return name, duration(ms), f"{rate:,.0f}", share


def _curve(twin: Twin, rows: Sequence[Record]):
    """Return the figure of the recorded steps with the reader's point.

    If this GPU has no records, the figure has only the two points that were measured here.
    """
    ladder, here = ladder_of(twin.step), rows[0].device
    if here not in records.recorded_devices(ladder.name):
        frame = records.to_frame(rows)
        return plots.curve(frame, [row.step for row in rows], here=True)
    frame, unit = records.measured(here, ladder.name), _unit(rows[0])
    frame = frame[frame[unit].notna() & frame["efficiency"].notna()]
    frame = pd.concat([frame, records.to_frame(rows[:1])], ignore_index=True)
    before = [twin.before.step.name] if twin.before else []
    marked = [*before, twin.step.name, rows[0].step]
    return plots.curve(frame, marked, translate("Your kernel on the curve"))
