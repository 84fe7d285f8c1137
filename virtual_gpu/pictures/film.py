"""One kernel of a movie: its source, its arrays, and what its block does, statement by statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..common.errors import VirtualGpuError
from ..common.lanes import WARP
from ..counts.counters import AccessCount
from ..counts.recorder import Event, Recording
from ..counts.transactions import CACHE_LINE_BYTES
from .costs import Cost, cost_of
from .grids import Grid, grid_of

MOST_STEPS = 120  # nobody watches more
LAST_STEPS = 40  # of them from the end
WITH_VALUES = 256  # elements of an array whose values can be read in its cells
VALUES_IN_A_ROW = 16
ACCESSES = ("load", "store", "atomic")


class Section(Protocol):
    """The text of a function. ``lines``: with their numbers in the file."""

    name: str
    file: str
    lines: Sequence[tuple[int, str]]

    def rows(self) -> Iterator[tuple[int, str]]:
        """The lines that are shown."""


class Recorded(Protocol):
    """What a film needs of a launch that was watched (tracing.Trace).

    sections: the kernel, then the functions that it called. files: their short names.
    """

    kernel: str
    recording: Recording | None
    sections: Sequence[Section]
    files: Mapping[str, str]
    access_counts: Sequence[AccessCount]


@dataclass(frozen=True)
class Row:
    """A line of the source, or with the number 0 the heading of a called function."""

    number: int
    text: str


@dataclass(frozen=True, eq=False)
class Step:
    """What one statement does. ``left_out``: so many steps are not shown, and this one says so."""

    row: int
    events: tuple[Event, ...]
    cost: Cost
    left_out: int = 0

    @property
    def is_barrier(self) -> bool:
        return any(event.kind == "barrier" for event in self.events)


@dataclass(frozen=True, eq=False)
class Film:
    """What is shown of one launch. ``parts``: by row, array and kind, into how many requests the
    compiler divides an access."""

    name: str
    kernel: str
    recording: Recording
    rows: tuple[Row, ...]
    grids: tuple[Grid, ...]
    steps: tuple[Step, ...]
    parts: Mapping[tuple[int, str, str], int]
    with_values: bool

    @property
    def threads(self) -> int:
        return int(np.prod(self.recording.shape))

    @property
    def warps(self) -> int:
        return -(-self.threads // WARP)

    @property
    def total(self) -> Cost:
        return sum((step.cost for step in self.steps), Cost())

    @property
    def colours(self) -> int:
        """One for each warp; within a single warp one for each row of threads."""
        return self.warps if self.warps > 1 else self.recording.shape[1]

    def colour_of(self, threads: np.ndarray) -> np.ndarray:
        """Which of the colours each of these threads has."""
        x, y, _ = self.recording.shape
        return threads // WARP if self.warps > 1 else threads // x % y

    def grid(self, name: str) -> int:
        """The place of the array with this name among the grids."""
        return next(n for n, grid in enumerate(self.grids) if grid.array.name == name)

    @property
    def home(self) -> Event | None:
        """A store of one element of global memory by each of many threads: these elements can
        stand for the threads."""
        for step in reversed(self.steps):
            for event in step.events:
                if event.kind != "store" or event.width > 1 or not self._is_global(event):
                    continue
                on = event.first[event.first >= 0]
                if len(np.unique(on)) == len(on) > 1:
                    return event
        return None

    def _is_global(self, event: Event) -> bool:
        return self.grids[self.grid(event.array)].array.space == "global"

    @property
    def remarks(self) -> list[str]:
        """What is not shown."""
        said = [
            f"Of {grid.array.name} only {grid.what_is_drawn} are drawn."
            for grid in self.grids
            if not grid.is_whole
        ]
        if any(step.left_out for step in self.steps):
            left = sum(step.left_out for step in self.steps)
            said.append(f"{left:,} steps in the middle are left out, and not counted.")
        if self.recording.left_out:
            said.append(
                f"The recording ends after {len(self.recording.events):,} events; "
                f"{self.recording.left_out:,} later ones are missing (trace(..., events=))."
            )
        return said


def film_of(trace: Recorded, name: str, focus: str) -> Film:
    """Raises VirtualGpuError where the trace has no recording, or one without any access."""
    recording = trace.recording
    if recording is None:
        raise VirtualGpuError(
            f"This trace of {trace.kernel} has recorded no block, which a movie needs: make it "
            "with trace(..., record=0), or record=(x, y) for another block."
        )
    if not any(event.kind in ACCESSES for event in recording.events):
        raise VirtualGpuError(
            f"Block {recording.block} of {trace.kernel} touches no array, so there is nothing to "
            "show: record another block, with trace(..., record=(x, y))."
        )
    rows, places = _rows(trace)
    parts = _parts(trace, places)
    arrays = {array.name: array for array in recording.arrays}

    def cost(event: Event, row: int) -> Cost:
        if event.kind not in ACCESSES:
            return Cost()
        each = parts.get((row, event.array, event.kind), 1)
        return cost_of(event, arrays[event.array], each)

    steps = []
    for events in by_statement(recording.events):
        row = places.get((events[0].file, events[0].line), 0)
        steps.append(Step(row, events, sum((cost(e, row) for e in events), Cost())))
    steps = _shortened(steps)
    with_values = any(event.values is not None for event in recording.events)
    grids = [
        grid_of(array, _touched(steps, array.name), _flat_wrap(array, focus, with_values))
        for array in recording.arrays
    ]
    return Film(
        name, trace.kernel, recording, rows, tuple(grids), tuple(steps), parts, with_values
    )


def by_statement(events: tuple[Event, ...]) -> list[tuple[Event, ...]]:
    """One step for what a statement does: until its line ends, it stores, or it comes again."""
    steps: list[list[Event]] = []
    seen: set[int] = set()
    for event in events:
        last = steps[-1][-1] if steps else None
        goes_on = (
            last is not None
            and (last.file, last.line) == (event.file, event.line)
            and last.kind == "load"
            and event.kind in ACCESSES
            and event.operation not in seen
        )
        if not goes_on:
            steps.append([])
            seen = set()
        steps[-1].append(event)
        seen.add(event.operation)
    return [tuple(step) for step in steps]


def _shortened(steps: list[Step]) -> list[Step]:
    """Of many steps the first and the last."""
    if len(steps) <= MOST_STEPS:
        return steps
    first, last = steps[: MOST_STEPS - LAST_STEPS], steps[-LAST_STEPS:]
    gap = len(steps) - len(first) - len(last)
    return [*first, Step(last[0].row, (), Cost(), left_out=gap), *last]


def _rows(trace: Recorded) -> tuple[tuple[Row, ...], dict[tuple[str, int], int]]:
    """The lines of the kernel and of the functions that the block came to, and where each is."""
    seen = {(event.file, event.line) for event in trace.recording.events}
    rows: list[Row] = []
    places: dict[tuple[str, int], int] = {}
    for section in trace.sections:
        file = trace.files[section.file]
        if section is not trace.sections[0]:
            if not any((file, number) in seen for number, _ in section.lines):
                continue
            rows.append(Row(0, f"{section.name}()"))
        for number, text in section.rows():
            places[file, number] = len(rows)
            rows.append(Row(number, text))
    return tuple(rows), places


def _parts(trace: Recorded, places: Mapping) -> dict[tuple[int, str, str], int]:
    parts = {}
    for count in trace.access_counts:
        row = places.get((trace.files[count.site.file], count.site.line))
        widths = {
            event.width
            for event in trace.recording.events
            if (event.line, event.array, event.kind) == (count.site.line, count.array, count.kind)
        }
        for width in widths:
            each = count.dtype.itemsize * width // count.bytes_per_lane
            parts[row, count.array, count.kind] = max(1, each)
    return parts


def _touched(steps: list[Step], name: str) -> np.ndarray:
    """The numbers of the elements of this array that the steps touch."""
    found = [np.empty(0, np.int64)]
    for step in steps:
        for event in step.events:
            if event.array == name:
                on = event.first[event.first >= 0]
                found.append(np.unique(on[:, None] + np.arange(event.width)))
    return np.unique(np.concatenate(found))


def _flat_wrap(array, focus: str, with_values: bool) -> int | None:
    """In a film about banks shared memory is drawn as the banks see it, a row of all banks below
    the other. Where values are read in the cells, these are wide."""
    if array.space == "shared" and focus == "banks":
        return max(1, CACHE_LINE_BYTES // array.itemsize)
    one = sum(extent > 1 for extent in array.shape) < 2
    few = int(np.prod(array.shape)) <= WITH_VALUES
    return VALUES_IN_A_ROW if one and few and with_values else None
