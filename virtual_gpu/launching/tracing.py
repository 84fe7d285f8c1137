"""The function `trace`, which runs a kernel and returns its findings and its costs by source line.
"""

from __future__ import annotations

import contextlib
import functools
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
from ..common.wording import translate
from ..compilers.kernels import as_numba_arguments, as_numba_kernel
from ..counts.counters import (
    AccessCount,
    Counters,
    LineCount,
    Uncounted,
    WarpAccess,
    first_access,
)
from ..counts.hints import Hint, KernelCounts, hints_of
from ..counts.recorder import MOST_EVENTS, Recorder, Recording, recording_request
from ..counts.tables import NO_COUNTS, accesses_table, lines_table
from ..counts.verdict import verdict
from ..host.hostarrays import DeviceArray
from ..machine.change import Change
from ..machine.geometry import make_geometry
from ..pictures.annotate import (
    AnnotatedSource,
    Section,
    annotated_html,
    annotated_text,
    sections_of,
)
from ..pictures.movie import Movie, movie
from .launch import Observer, launch

if TYPE_CHECKING:  # pandas takes half a second to import, so it is imported only for tables
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Trace:
    """The findings and counts of one launch. In a notebook it shows the annotated source.

    ``kernel`` is the kernel's name. ``blocks`` is (number of blocks that ran, number of blocks in
    the grid). ``sections`` are the texts of the kernel and of the functions that it called.
    ``files`` maps each file to its short name, and ``counts`` each source line to its counts.
    ``access_counts`` are in the order of first execution. ``footprint_bytes`` is the number of
    different bytes of global memory that were loaded or stored, in whole sectors. ``turns`` maps
    the first line of each loop to its iterations, summed over threads. ``kernel_counts`` are the
    counts from which hints are derived. ``recording`` has the events of the recorded block, and is
    None if no block was recorded.
    """

    kernel: str  # the name of the kernel
    blocks: tuple[int, int]  # the number of blocks that were run, and that of the grid
    sections: tuple[Section, ...]  # the text of the kernel, then of the functions that it called
    files: Mapping[str, str]  # the short name of each file
    findings: tuple[Finding, ...]
    counts: Mapping[Site, LineCount]
    access_counts: tuple[AccessCount, ...]  # in the order of their first execution
    footprint_bytes: int  # different bytes of global memory that were loaded or stored
    turns: Mapping[Site, int]  # iterations of each loop, by its first line, summed over threads
    kernel_counts: KernelCounts  # from which the hints are derived
    recording: Recording | None = None  # the events of the block that ``record`` names

    @functools.cached_property
    def hints(self) -> tuple[Hint, ...]:
        """The reasons why counts are large; they are derived when they are first read."""
        return hints_of(self.kernel_counts)

    @property
    def source(self) -> tuple[tuple[int, str], ...]:
        """The kernel's lines, each as (line number in its file, text)."""
        return self.sections[0].lines

    @property
    def verdict(self) -> str:
        """One line of text: the flaws, the warnings, the first hint and the number of others.

        It is such as ``1 race; 2 warnings``, or begins with ``no flaw found``.
        """
        return verdict(self.findings, self.hints, self.files)

    @property
    def title(self) -> str:
        """The kernel's name and "on the virtual GPU".

        If only some blocks were run, text such as ": a sample of 2 of 64 blocks" follows, with the
        numbers of blocks that were run and that the grid has.
        """
        run, grid = self.blocks
        title = translate("{kernel} on the virtual GPU", kernel=self.kernel)
        return title if run == grid else f"{title}: a sample of {run} of {grid} blocks"

    @property
    def lines(self) -> pd.DataFrame:
        """A table with one row per source line that accessed memory, computed or synchronised.

        Only global and shared memory, operations of floats, multiplications of fragments, and
        barriers of a block or the grid count. Columns: ``file`` (a short name), ``line``,
        ``source``, the counts of counters.LineCount, and ``lanes_per_warp`` (active lanes per
        memory instruction, at most 32, NaN without one). The rows are sorted by file and line, and
        the kernel's file comes first.
        """
        return lines_table(self.counts, self.files)

    @property
    def accesses(self) -> pd.DataFrame:
        """A table with one row per source line, array, kind and instruction of an access.

        Columns: ``file``, ``line``, ``source``, ``array``, ``space`` (global or shared), ``kind``
        (load, store or atomic), ``instruction`` ("ldmatrix", "cp.async" or the same as ``kind``),
        ``requests``, ``sectors`` (of 32 bytes) and ``cache_lines`` (of 128 bytes) of global memory,
        ``wavefronts`` of shared memory, ``words`` (of 4 bytes, summed over lanes), ``bytes`` and
        ``lanes``. A count that does not apply is missing, such as the sectors of shared memory or
        of atomics.
        """
        return accesses_table(self.access_counts, self.files)

    @property
    def totals(self) -> pd.Series:
        """A series with the sum of each count of ``lines`` over all source lines."""
        return self.lines.drop(columns=list(NO_COUNTS)).sum()

    def warp_access(self, array: str, kind: str = "load") -> WarpAccess:
        """Return the first access of this array by a warp, as the drawing functions need it.

        ``kind`` is "load", "store" or "atomic".
        Raises VirtualGpuError, which lists the recorded accesses, if there is no such access.
        """
        return first_access(self._accesses_of(array, kind, None)[0])

    def requests(
        self, array: str, kind: str = "load", first: int = 12, line: int | None = None
    ) -> np.ndarray:
        """Return the addresses of the first requests to this array: int64, shape (requests, 32).

        A row is one request of one warp: the byte offset of each lane within the allocation, or -1
        where a lane is inactive. In shared memory the offset is that within the block's part. The
        rows are grouped by source line, in the order in which the lines were first executed. At
        most ``first`` rows are returned; with ``line``, only requests of this source line. ``kind``
        is "load", "store" or "atomic". At most 64 requests per line are kept. Raises
        VirtualGpuError, which lists the recorded accesses, if there is no such access.
        """
        rows = [row for count in self._accesses_of(array, kind, line) for row in count.first]
        return np.stack(rows[:first]) if first > 0 else np.empty((0, WARP), np.int64)

    def _accesses_of(self, array: str, kind: str, line: int | None) -> list[AccessCount]:
        """Return the counts of the accesses to an array of this kind, at ``line`` if it is given.

        Raises VirtualGpuError, which lists the recorded accesses, if there are none.
        """
        matches = [
            count
            for count in self.access_counts
            if (count.array, count.kind) == (array, kind) and line in (None, count.site.line)
        ]
        if not matches:
            known = sorted({f"{a.kind} of {a.array}" for a in self.access_counts})
            where = "" if line is None else f" at line {line}"
            raise VirtualGpuError(
                f"{self.kernel} made no {kind} of {array}{where}; it made: "
                f"{', '.join(known) or 'none'}."
            )
        return matches

    def movie(self, title: str = "", focus: str = "reads") -> Movie:
        """Return a movie of the recorded block, step by step: ``trace(..., record=0).movie()``.

        Without a ``title``, the kernel's name is the title. ``focus`` is the subject of the movie:
        ``reads``, ``sectors`` or ``banks``. ``pictures.movie`` compares several traces. Raises
        VirtualGpuError if no block or no access was recorded, or for another focus.
        """
        return movie(self, title=title, focus=focus)

    def listing(self) -> AnnotatedSource:
        """Return the annotated source with all counts, findings and hints."""
        return AnnotatedSource(
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
    """Yield the arguments as a tuple with host copies instead of arrays on a real device.

    At the end the copies' contents are copied back to the device, but not if the context raises.
    """
    real = {n: array for n, array in enumerate(arguments) if _on_a_real_device(array)}
    on_host = [real[n].copy_to_host() if n in real else a for n, a in enumerate(arguments)]
    yield tuple(on_host)
    for n, array in real.items():
        array.copy_to_device(on_host[n])


def _on_a_real_device(argument) -> bool:
    """Return True for a device array that is not in the virtual GPU's memory."""
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
    change: Change | None = None,
    counts: bool = True,
) -> Trace:
    """Run a kernel on the virtual GPU and return its findings and its costs by source line.

    Parameters
    ----------
    kernel : a ``@cuda.jit`` function or a plain Python function.
    grid, block : ints or tuples of ints.
    *arguments : numbers and arrays, which may be host arrays, the virtual GPU's device arrays, and
        Numba's arrays on a real device. The kernel writes to them as in a launch.
    shared_bytes : dynamic shared memory of a block in bytes.
    blocks : run only this number of blocks, spread over the grid; None runs all blocks. The counts
        are those of these blocks, and a race with a block that is not run is not found.
    patience : raise LimitReached after this number of seconds. The number of iterations of a loop
        is then not limited.
    lane_rounds : raise LimitReached after this number of loop iterations, summed over threads. This
        limit does not depend on the speed of the machine.
    record : the coordinates of one block whose first ``events`` events are kept, in order, in
        ``Trace.recording``.
    values : record the values that the threads load and store, too.
    events : the number of events to record.
    change : change what threads get from shared memory or by shuffles, in a launch of one block.
    counts : False leaves all counts and hints empty, which is faster. The arrays, the findings and
        the recording are the same.

    Returns
    -------
    Trace
        Its findings are collected, not raised.

    Raises
    ------
    Unsupported
        for code that the virtual GPU does not know.
    LaunchError
        for a launch that a device would refuse, for an object that is no kernel, for ``blocks``
        below 1, and for a ``record`` that is no block of the grid.
    LimitReached
        if the launch exceeds a limit.
    KernelRaised
        if a thread reaches a ``raise`` or a failing ``assert``.
    """
    __tracebackhide__ = True  # pytest shows the user's line instead of this text
    try:
        _check_kernel(kernel)
        kernel, arguments = as_numba_kernel(kernel), as_numba_arguments(arguments)
        if blocks is not None and blocks < 1:
            raise LaunchError(f"blocks={blocks}; a sample needs at least 1 block.")
        geometry, recorder = make_geometry(grid, block), None
        if record is not None:
            recorder = Recorder(geometry, recording_request(geometry, record, values, events))
        limits = limits_of(patience, lane_rounds)
        counters = Counters(recorder) if counts else Uncounted(recorder)
        observer = Observer(Report(collect=True), counters, blocks, limits, change)
        with _copied_to_the_host(arguments) as on_host:
            launch(kernel, geometry, on_host, shared_bytes, observer)
    except (VirtualGpuError, KeyboardInterrupt) as error:
        raise without_interpreter(error) from None
    return _trace_of(getattr(kernel, "py_func", kernel), geometry, on_host, observer)


def _check_kernel(kernel: Callable) -> None:
    """Raise LaunchError unless the object is a kernel or a Python function."""
    if not hasattr(getattr(kernel, "py_func", kernel), "__code__"):
        raise LaunchError(
            f"trace() was given a {type(kernel).__name__} where it needs a kernel; write "
            "trace(kernel, grid, block, *arguments)."
        )


def _trace_of(
    function: Callable, geometry: Geometry, arguments: tuple, observer: Observer
) -> Trace:
    """Return the Trace of a launch that has ended.

    ``function`` is the kernel's Python function, ``arguments`` are those of the launch with arrays
    on the host, and ``observer`` is the one that the launch has filled.
    """
    findings, counters = observer.report.findings, observer.counters
    functions = counters.functions or (read_source(function),)
    lines, recorder = counters.lines, counters.recorder
    named = _named(functions[0], arguments)
    run = min(observer.blocks or geometry.blocks, geometry.blocks)
    warps = run * geometry.lanes_per_block // WARP
    sites = (*lines, *(finding.site for finding in findings))
    files = short_names([*(f.file for f in functions), *(site.file for site in sites)])
    counts = KernelCounts(
        counters.accesses, lines, _row_bytes(named), functions, run, warps,
        counters.beaten_extremes,
    )  # fmt: skip
    return Trace(
        function.__name__,
        (run, geometry.blocks),
        sections_of(functions),
        files,
        findings,
        lines,
        counters.accesses,
        counters.footprint_bytes,
        counters.iterations,
        counts,
        recorder.recording(files, named) if recorder else None,
    )


def _named(kernel: Source, arguments: tuple) -> dict[str, object]:
    """Return a dict from the kernel's parameters to their arguments, defaults included.

    It is empty if there are too few or too many arguments.
    """
    filled = kernel.filled(arguments) or ()
    return dict(zip(kernel.parameters, filled, strict=False))


def _row_bytes(arguments: Mapping[str, object]) -> dict[str, int]:
    """Return a dict from the name of each array argument to its row stride in bytes.

    The stride is 0 for an array with fewer than two dimensions.
    """
    return {
        name: array.strides[-2] if len(array.strides) > 1 else 0
        for name, array in arguments.items()
        if hasattr(array, "strides")
    }
