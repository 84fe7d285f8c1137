"""The film of one kernel in a movie: its source, its arrays, and its block's steps.

A step is what one statement does in all threads of the block.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from virtual_gpu.common.division import cdiv

from ..common.errors import VirtualGpuError
from ..common.lanes import WARP
from ..counts.counters import AccessCount
from ..counts.recorder import Event, Recording
from ..counts.transactions import CACHE_LINE_BYTES
from .costs import Cost, cost_of
from .grids import ArrayGrid, grid_of

MOST_STEPS = 120  # of a longer recording, only the first and the last steps are shown
LAST_STEPS = 40  # of MOST_STEPS, those from the end
WITH_VALUES = 256  # the most elements of an array whose values are written into its cells
VALUES_IN_A_ROW = 16
ACCESSES = ("load", "store", "atomic")
FENCES = ("fence", "fence_block")  # not shown


class SourceSection(Protocol):
    """The source text of one function: its name, its file, and its lines as (line number, text).

    ``annotate.Section`` has these fields.
    """

    name: str
    file: str
    lines: Sequence[tuple[int, str]]

    def rows(self) -> Iterator[tuple[int, str]]:
        """Return an iterator over the (line number, text) of all but comment and empty lines."""


class RecordedTrace(Protocol):
    """The part of tracing.Trace that a film uses.

    ``kernel`` is the kernel's name. ``sections`` are the kernel, first, and the functions that it
    called. ``files`` maps each file to its short name. ``recording`` is None if no block was
    recorded, and ``access_counts`` are the counts of accesses.
    """

    kernel: str
    recording: Recording | None
    sections: Sequence[SourceSection]
    files: Mapping[str, str]
    access_counts: Sequence[AccessCount]


@dataclass(frozen=True)
class SourceRow:
    """A shown line of the source, with its number and its text.

    A row with the number 0 is the heading of a called function.
    """

    number: int
    text: str


@dataclass(frozen=True, eq=False)
class FilmStep:
    """The events of one statement and their total cost.

    ``row`` is the index of the statement's line in ``Film.rows``. A step without events represents
    ``left_out`` steps that are not shown.
    """

    row: int
    events: tuple[Event, ...]
    cost: Cost
    left_out: int = 0

    @property
    def is_barrier(self) -> bool:
        """True if the step has a block barrier."""
        return any(event.kind == "barrier" for event in self.events)


@dataclass(frozen=True, eq=False)
class Film:
    """The steps of one recorded block, with the source rows and the arrays to draw.

    ``parts`` maps (row, array name, kind of access) to the number of requests into which the
    compiler divides that access. ``with_values`` is True if the recording has the values that were
    loaded and stored. ``name`` is the label of the film, ``kernel`` the kernel's name, and
    ``grids`` are the arrays.
    """

    name: str
    kernel: str
    recording: Recording
    rows: tuple[SourceRow, ...]
    grids: tuple[ArrayGrid, ...]
    steps: tuple[FilmStep, ...]
    parts: Mapping[tuple[int, str, str], int]
    with_values: bool

    @property
    def threads(self) -> int:
        """The number of threads in the block."""
        return int(np.prod(self.recording.shape))

    @property
    def warps(self) -> int:
        """The number of warps in the block."""
        return cdiv(self.threads, WARP)

    @property
    def total(self) -> Cost:
        """The Cost of all steps together."""
        return sum((step.cost for step in self.steps), Cost())

    @property
    def colours(self) -> int:
        """The number of colours: one per warp, or in a block of one warp one per row of threads."""
        return self.warps if self.warps > 1 else self.recording.shape[1]

    def colour_of(self, threads: np.ndarray) -> np.ndarray:
        """Return an array of the colour indices of these threads, given by number in the block.

        The index is the number of the warp, or in a block of one warp the row (y) of the thread.
        """
        x, y, _ = self.recording.shape
        return threads // WARP if self.warps > 1 else threads // x % y

    def grid(self, name: str) -> int:
        """Return the index in ``grids`` of the array with this name.

        Raises StopIteration if there is no such array.
        """
        return next(n for n, grid in enumerate(self.grids) if grid.array.name == name)

    @property
    def home(self) -> Event | None:
        """The last store in which each active thread writes a global element of its own.

        At least two threads take part, with one element each. A movie shows each thread at the
        element that it writes there. None if there is no such store.
        """
        for step in reversed(self.steps):
            for event in step.events:
                if event.kind != "store" or event.width > 1 or not self._is_global(event):
                    continue
                on = event.first[event.first >= 0]
                if len(np.unique(on)) == len(on) > 1:
                    return event
        return None

    def _is_global(self, event: Event) -> bool:
        """Return True if the event accesses an array in global memory."""
        return self.grids[self.grid(event.array)].array.space == "global"

    @property
    def remarks(self) -> list[str]:
        """Sentences about the elements, steps and events that are not shown; can be empty."""
        sentences = [
            f"Of {grid.array.name} only {grid.what_is_drawn} are drawn."
            for grid in self.grids
            if not grid.is_whole
        ]
        if any(step.left_out for step in self.steps):
            left = sum(step.left_out for step in self.steps)
            sentences.append(f"{left:,} steps in the middle are left out, and not counted.")
        if self.recording.left_out:
            sentences.append(
                f"The recording ends after {len(self.recording.events):,} events; "
                f"{self.recording.left_out:,} later ones are missing (trace(..., events=))."
            )
        return sentences


def film_of(trace: RecordedTrace, name: str, focus: str) -> Film:
    """Return the Film of a trace with this name and focus ("reads", "sectors" or "banks").

    Raises VirtualGpuError if the trace has no recording, or one without any access.
    """
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
    rows, row_of_line = _rows(trace)
    parts = _parts(trace, row_of_line)
    arrays = {array.name: array for array in recording.arrays}

    def cost(event: Event, row: int) -> Cost:
        if event.kind not in ACCESSES:
            return Cost()
        each = parts.get((row, event.array, event.kind), 1)
        return cost_of(event, arrays[event.array], each)

    steps = []
    shown = tuple(event for event in recording.events if event.kind not in FENCES)
    for events in by_statement(shown):
        row = row_of_line.get((events[0].file, events[0].line), 0)
        steps.append(FilmStep(row, events, sum((cost(e, row) for e in events), Cost())))
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
    """Return the events in the same order, as one tuple per execution of a statement.

    A group is the loads of one source line and the store or atomic that follows them. It ends early
    when an operation of the group is repeated. A barrier or warp function is a group of its own.
    """
    steps: list[list[Event]] = []
    operations: set[int] = set()
    for event in events:
        last = steps[-1][-1] if steps else None
        same_statement = (
            last is not None
            and (last.file, last.line) == (event.file, event.line)
            and last.kind == "load"
            and event.kind in ACCESSES
            and event.operation not in operations
        )
        if not same_statement:
            steps.append([])
            operations = set()
        steps[-1].append(event)
        operations.add(event.operation)
    return [tuple(step) for step in steps]


def _shortened(steps: list[FilmStep]) -> list[FilmStep]:
    """Return the steps unchanged; if they are more than MOST_STEPS, without those in the middle.

    The first MOST_STEPS - LAST_STEPS and the last LAST_STEPS steps are then kept. A FilmStep
    without events between them has the number of steps that are left out.
    """
    if len(steps) <= MOST_STEPS:
        return steps
    first, last = steps[: MOST_STEPS - LAST_STEPS], steps[-LAST_STEPS:]
    gap = len(steps) - len(first) - len(last)
    return [*first, FilmStep(last[0].row, (), Cost(), left_out=gap), *last]


def _rows(trace: RecordedTrace) -> tuple[tuple[SourceRow, ...], dict[tuple[str, int], int]]:
    """Return the shown lines of the kernel and of the functions that the block executed.

    The first result holds the rows, of which each called function begins with one for its heading.
    The second is a dict from (short file name, line number) to the index of the line's row.
    """
    executed = {(event.file, event.line) for event in trace.recording.events}
    rows: list[SourceRow] = []
    row_of_line: dict[tuple[str, int], int] = {}
    for section in trace.sections:
        file = trace.files[section.file]
        if section is not trace.sections[0]:
            if not any((file, number) in executed for number, _ in section.lines):
                continue
            rows.append(SourceRow(0, f"{section.name}()"))
        for number, text in section.rows():
            row_of_line[file, number] = len(rows)
            rows.append(SourceRow(number, text))
    return tuple(rows), row_of_line


def _parts(trace: RecordedTrace, row_of_line: Mapping) -> dict[tuple[int, str, str], int]:
    """Return a dict from (row, array, kind) to the number of requests per access.

    ``row`` is the index of the source row, ``array`` the array's name, and ``kind`` that of the
    access. The compiler divides an access that is too wide for one request. ``row_of_line`` maps
    (short file name, line number) to the index of a row.
    """
    parts = {}
    for count in trace.access_counts:
        row = row_of_line.get((trace.files[count.site.file], count.site.line))
        widths = {
            event.width
            for event in trace.recording.events
            if (event.line, event.array, event.kind) == (count.site.line, count.array, count.kind)
        }
        for width in widths:
            each = count.dtype.itemsize * width // count.bytes_per_lane
            parts[row, count.array, count.kind] = max(1, each)
    return parts


def _touched(steps: list[FilmStep], name: str) -> np.ndarray:
    """Return the indices of this array's elements that the steps touch, distinct and ascending."""
    elements = [np.empty(0, np.int64)]
    for step in steps:
        for event in step.events:
            if event.array == name:
                on = event.first[event.first >= 0]
                elements.append(np.unique(on[:, None] + np.arange(event.width)))
    return np.unique(np.concatenate(elements))


def _flat_wrap(array, focus: str, with_values: bool) -> int | None:
    """Return the number of elements per drawn row of an array; None to draw its own rows.

    In a film about banks, a row of shared memory has one word per bank. With ``with_values``, an
    array of one dimension with few elements gets short rows, because cells with values are wide.
    """
    if array.space == "shared" and focus == "banks":
        return max(1, CACHE_LINE_BYTES // array.itemsize)
    one = sum(extent > 1 for extent in array.shape) < 2
    few = int(np.prod(array.shape)) <= WITH_VALUES
    return VALUES_IN_A_ROW if one and few and with_values else None
