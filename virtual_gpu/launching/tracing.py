"""Run a kernel to explain it: every finding, and what each source line cost."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..checks.report import Report
from ..common.errors import Finding, LaunchError, Site, VirtualGpuError, without_interpreter
from ..common.filenames import short_names
from ..common.lanes import WARP, Geometry
from ..common.limits import limits_of
from ..common.source import Source, read_source
from ..counts.counters import AccessCount, Counters, LineCount, WarpAccess, first_access
from ..counts.hints import Hint, Seen, hints_of
from ..counts.recorder import MOST_EVENTS, Recorder, Recording, order
from ..counts.tables import NO_COUNTS, accesses_table, lines_table
from ..counts.verdict import verdict
from ..host.hostarrays import DeviceArray
from ..machine.geometry import make_geometry
from ..pictures.annotate import Listing, Section, annotated_html, annotated_text, sections_of
from ..pictures.movie import Movie, movie
from .launch import Observer, launch

if TYPE_CHECKING:  # pandas takes half a second to import: only who asks for a table waits for it
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Trace:
    """What the virtual GPU saw of one launch. In a notebook it shows the annotated source."""

    kernel: str
    blocks: tuple[int, int]  # how many blocks were run, and how many the grid has
    sections: tuple[Section, ...]  # the text of the kernel, then of the functions that it called
    files: Mapping[str, str]  # their short names
    findings: tuple[Finding, ...]
    hints: tuple[Hint, ...]
    counts: Mapping[Site, LineCount]
    access_counts: tuple[AccessCount, ...]  # in the order of their first execution
    footprint_bytes: int  # of global memory, however often they were loaded or stored
    turns: Mapping[Site, int]  # of each loop, by its first line, summed over threads
    recording: Recording | None = None  # what the block did that was asked for

    @property
    def source(self) -> tuple[tuple[int, str], ...]:
        """The kernel's lines with their numbers in the file."""
        return self.sections[0].lines

    @property
    def verdict(self) -> str:
        """One line: the flaws that were found, warnings, and the first hint."""
        return verdict(self.findings, self.hints, self.files)

    @property
    def title(self) -> str:
        """The kernel's name, and whether all blocks were run."""
        run, grid = self.blocks
        sampled = "" if run == grid else f": a sample of {run} of {grid} blocks"
        return f"{self.kernel} on the virtual GPU{sampled}"

    @property
    def lines(self) -> pd.DataFrame:
        """One row per source line that touched memory, computed or synchronised.

        Columns: ``file`` (a short name), ``line``, ``source``, the counts of counters.LineCount,
        and ``lanes_per_warp`` (active lanes per memory instruction, at most 32). The kernel's file
        stands first.
        """
        return lines_table(self.counts, self.files)

    @property
    def accesses(self) -> pd.DataFrame:
        """One row per source line, array and kind of access.

        Columns: ``file``, ``line``, ``source``, ``array``, ``space`` (global or shared), ``kind``
        (load, store or atomic), ``requests``, ``sectors`` (of 32 bytes) and ``cache_lines`` (of 128
        bytes) of global memory, ``wavefronts`` of shared memory, ``words`` (of 4 bytes, each
        lane's), ``bytes`` and ``lanes``. What is not counted is missing: sectors of shared memory,
        say, and those of atomics.
        """
        return accesses_table(self.access_counts, self.files)

    @property
    def totals(self) -> pd.Series:
        """The counts summed over all lines."""
        return self.lines.drop(columns=list(NO_COUNTS)).sum()

    def warp_access(self, array: str, kind: str = "load") -> WarpAccess:
        """The first load or store of this array by a warp, to be drawn.

        Raises VirtualGpuError with the accesses that there are.
        """
        return first_access(self._accesses_of(array, kind, None)[0])

    def requests(
        self, array: str, kind: str = "load", first: int = 12, line: int | None = None
    ) -> np.ndarray:
        """Where the first requests of this array went: int64, shape (requests, 32).

        A row is one request of one warp: the byte address of each lane within the allocation, -1
        where a lane is inactive. ``line``: only those of this line. At most 64 of each line are
        kept. Raises VirtualGpuError with the accesses that there are.
        """
        kept = [row for count in self._accesses_of(array, kind, line) for row in count.first]
        return np.stack(kept[:first]) if first > 0 else np.empty((0, WARP), np.int64)

    def _accesses_of(self, array: str, kind: str, line: int | None) -> list[AccessCount]:
        found = [
            count
            for count in self.access_counts
            if (count.array, count.kind) == (array, kind) and line in (None, count.site.line)
        ]
        if not found:
            known = sorted({f"{a.kind} of {a.array}" for a in self.access_counts})
            where = "" if line is None else f" at line {line}"
            raise VirtualGpuError(
                f"{self.kernel} made no {kind} of {array}{where}; it made: "
                f"{', '.join(known) or 'none'}."
            )
        return found

    def movie(self, title: str = "", focus: str = "reads") -> Movie:
        """What the recorded block does, step by step: ``trace(..., record=0).movie()``.

        focus: what the movie is about: ``reads``, ``sectors`` or ``banks``; ``pictures.movie``
        compares several traces. Raises VirtualGpuError where no block was recorded.
        """
        return movie(self, title=title, focus=focus)

    def listing(self) -> Listing:
        """What is shown of this launch."""
        return Listing(
            self.title,
            self.verdict,
            self.sections,
            self.counts,
            self.findings,
            self.hints,
            self.files,
            self.access_counts,
        )

    def __repr__(self) -> str:
        return f"<Trace of {self.title}: {self.verdict}>"

    def _repr_html_(self) -> str:
        return annotated_html(self.listing())

    def __str__(self) -> str:
        return annotated_text(self.listing())


@contextlib.contextmanager
def _copied_to_the_host(arguments: tuple) -> Iterator[tuple]:
    """The arguments with host arrays for those on a real device, to which they are copied back."""
    real = {at: array for at, array in enumerate(arguments) if _on_a_real_device(array)}
    here = [real[at].copy_to_host() if at in real else a for at, a in enumerate(arguments)]
    yield tuple(here)
    for at, array in real.items():
        array.copy_to_device(here[at])


def _on_a_real_device(argument) -> bool:
    return hasattr(argument, "copy_to_host") and not isinstance(argument, DeviceArray)


def trace(
    kernel: Callable,
    grid,
    block,
    *arguments,
    shared_bytes: int = 0,
    blocks: int | None = None,
    patience: float | None = None,
    lane_rounds: float | None = None,
    record: int | tuple[int, ...] | None = None,
    values: bool = False,
    events: int = MOST_EVENTS,
) -> Trace:
    """Run ``kernel`` (a ``@cuda.jit`` function or a plain one) on the virtual GPU and explain it.

    ``grid`` and ``block`` are ints or tuples; arguments are numbers and arrays: host arrays, the
    virtual GPU's, and Numba's on a real device. Arrays are written as by a launch. ``blocks``: run
    only so many blocks, spread over the grid; counts are theirs alone, and a race with another
    block stays unseen. ``patience``: LimitReached is raised after so many seconds, and loops are
    not held to a number of rounds. ``lane_rounds``: and after so many rounds of loops, counted for
    each thread, which does not depend on the machine. ``record``: the coordinates of one block
    whose first ``events`` events are kept, in order, in ``Trace.recording``; with ``values`` also
    what its threads load and store.
    Findings are collected, not raised; Unsupported and LaunchError are raised.
    """
    __tracebackhide__ = True  # pytest shows the user's line instead of this text
    try:
        _check_kernel(kernel)
        if blocks is not None and blocks < 1:
            raise LaunchError(f"blocks={blocks}; a sample needs at least 1 block.")
        geometry, recorder = make_geometry(grid, block), None
        if record is not None:
            recorder = Recorder(geometry, order(geometry, record, values, events))
        limits = limits_of(patience, lane_rounds)
        observer = Observer(Report(collect=True), Counters(recorder), blocks, limits)
        with _copied_to_the_host(arguments) as here:
            launch(kernel, geometry, here, shared_bytes, observer)
    except (VirtualGpuError, KeyboardInterrupt) as error:
        raise without_interpreter(error) from None
    return _traced(getattr(kernel, "py_func", kernel), geometry, here, observer)


def _check_kernel(kernel: Callable) -> None:
    if not hasattr(getattr(kernel, "py_func", kernel), "__code__"):
        raise LaunchError(
            f"trace() was given a {type(kernel).__name__} where it needs a kernel; write "
            "trace(kernel, grid, block, *arguments)."
        )


def _traced(
    function: Callable, geometry: Geometry, arguments: tuple, observer: Observer
) -> Trace:
    """The Trace of a launch that has been observed."""
    findings, counters = observer.report.findings, observer.counters
    functions = counters.functions or (read_source(function),)
    lines, recorder = counters.lines, counters.recorder
    named = _named(functions[0], arguments)
    run = min(observer.blocks or geometry.blocks, geometry.blocks)
    warps = run * geometry.lanes_per_block // WARP
    sites = (*lines, *(finding.site for finding in findings))
    files = short_names([*(f.file for f in functions), *(site.file for site in sites)])
    return Trace(
        function.__name__,
        (run, geometry.blocks),
        sections_of(functions),
        files,
        findings,
        hints_of(Seen(counters.accesses, lines, _row_bytes(named), functions, run, warps)),
        lines,
        counters.accesses,
        counters.footprint_bytes,
        counters.turns,
        recorder.recording(files, named) if recorder else None,
    )


def _named(kernel: Source, arguments: tuple) -> dict[str, object]:
    filled = kernel.filled(arguments) or ()
    return dict(zip(kernel.parameters, filled, strict=False))


def _row_bytes(arguments: Mapping[str, object]) -> dict[str, int]:
    """For each array argument the bytes from one row to the next; 0 where it has one dimension."""
    return {
        name: array.strides[-2] if len(array.strides) > 1 else 0
        for name, array in arguments.items()
        if hasattr(array, "strides")
    }
