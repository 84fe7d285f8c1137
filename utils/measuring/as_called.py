"""The sub-command `as-called`: time functions as a user calls them, Python included.

The time of a call is wall-clock time over a burst of calls, until the GPU has finished. The host's
part of it ends when the last call has returned.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path

from numba import cuda
from rich.console import Console
from rich.progress import track
from rich.table import Table
from threadpoolctl import threadpool_limits

from utils.ladder.libraries import Execution
from utils.machine.devices import cpu_name, slug
from utils.measuring import rows
from utils.measuring.command_line import Command, device_for
from utils.measuring.timing import time_gpu
from utils.paths import DATA

REPETITIONS = 7
BURST_US = 4000.0
# The driver's queue takes about a thousand launches, and a call has up to four.
MOST_CALLS, FEWEST_CALLS = 200, 3
SEED = 1
SHOWN = 12


@dataclass(frozen=True)
class CallCase:
    """One call of a function to time, next to the same call of libraries.

    function: our function's name, such as "sgemm". m, n, k, elements: the sizes; those that do not
    apply are None. layout, dtype: of the inputs, as text. `bind()` returns a triple: our call, a
    dict from each library's name to its call, and our call without waiting for the GPU, or None if
    our call does not wait anyway. Arrays that `bind` allocates are kept only while the case is
    timed.
    """

    function: str
    m: int | None
    n: int | None
    k: int | None
    elements: int | None
    layout: str
    dtype: str
    bind: Callable[[], tuple[Execution, Mapping[str, Execution], Execution | None]]


@dataclass(frozen=True)
class CallRow:
    """One row of the record `as_called.csv`: our time of a call and the fastest library's.

    `function` is our function's name, and `m`, `n`, `k` and `elements` are the sizes; those that do
    not apply are None. `layout` and `dtype` are those of the inputs, as text. `time_us` and
    `library_us` are microseconds per call until the work is done. `library` is the name of the
    fastest library, and `ratio` is its time divided by ours. `host_us` is the time until the call
    returns; for a call that waits for the GPU, the time of its kernels is subtracted.
    """

    function: str
    m: int | None
    n: int | None
    k: int | None
    elements: int | None
    layout: str
    dtype: str
    host_us: float
    time_us: float
    library: str
    library_us: float
    ratio: float

    @property
    def size(self) -> str:
        """The sizes as text: such as "512×512×512" for m, n and k.

        For a function of one array, it is the number of elements, such as "1024".
        """
        return f"{self.m}×{self.n}×{self.k}" if self.elements is None else str(self.elements)


COLUMNS = tuple(field.name for field in fields(CallRow))


@dataclass(frozen=True)
class Called:
    """Mean or median microseconds per call in a burst of calls.

    `host_us` is the time until all calls returned, and `time_us` the time until all work was done.
    """

    host_us: float
    time_us: float


@dataclass(frozen=True)
class Processor:
    """The GPU or the CPU on which calls are timed.

    device: a function that returns its name; for the GPU, the function raises CourseError if there
        is none.
    wait: a function that waits until all work is done.
    libraries: the libraries that our calls are compared with, as words for the help text.
    rounds: how often all cases are timed; per case, the round with the median ratio is recorded.
    queues: True if a call may return before its work is done, so that Python's part can be timed.
    """

    device: Callable[[], str]
    wait: Callable[[], None]
    libraries: str
    rounds: int
    queues: bool


GPU = Processor(
    device=lambda: device_for("as-called").name,
    wait=cuda.synchronize,
    libraries="PyTorch and CuPy",
    rounds=1,
    queues=True,
)
# A CPU is shared with other programs, which disturb it for seconds, longer than a case takes.
CPU = Processor(
    device=cpu_name,
    wait=lambda: None,
    libraries="NumPy, on one thread each",
    rounds=5,
    queues=False,
)


def burst(call: Execution, calls: int, wait: Callable, clock: Callable[[], float]) -> Called:
    """Make `calls` calls in a row and return their mean times in microseconds.

    `wait()` waits until all work is done, and `clock()` returns the time in seconds.
    """
    wait()
    begin = clock()
    for _ in range(calls):
        call()
    returned = clock()
    wait()
    done = clock()
    return Called(1e6 * (returned - begin) / calls, 1e6 * (done - begin) / calls)


def compared(
    rivals: Mapping[str, Execution],
    generator: random.Random,
    wait: Callable = cuda.synchronize,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Called]:
    """Time calls in interleaved bursts and return name -> times per call, in microseconds.

    rivals: name -> call. Both times are medians over the bursts of a call. Each round times the
    calls in another random order, which comes from `generator`. `wait()` waits until all work is
    done; `clock()` returns seconds.
    """
    calls = {}
    for name, call in rivals.items():
        call()  # compiles, plans, allocates
        once = burst(call, FEWEST_CALLS, wait, clock).time_us
        calls[name] = max(FEWEST_CALLS, min(MOST_CALLS, round(BURST_US / max(once, 1e-3))))
    samples = {name: [] for name in rivals}
    for _ in range(REPETITIONS):
        for name in generator.sample(sorted(rivals), len(rivals)):
            samples[name].append(burst(rivals[name], calls[name], wait, clock))
    return {
        name: Called(
            statistics.median(burst.host_us for burst in bursts),
            statistics.median(burst.time_us for burst in bursts),
        )
        for name, bursts in samples.items()
    }


def row_of(case: CallCase, generator: random.Random, compare=compared, kernel_us=None) -> CallRow:
    """Time one case and its libraries, and return the row for the record.

    `generator` is the source of the random order of calls. `compare` and `kernel_us` are functions
    that tests replace. The first is `compared`. The second returns the microseconds that a call's
    kernels take; None means to measure them.
    """
    ours, libraries, without_waiting = case.bind()
    times = compare({"": ours} | dict(libraries), generator)
    our_time = times.pop("")
    library = min(times, key=lambda name: times[name].time_us)
    host_us = our_time.host_us
    if without_waiting is not None:
        host_us -= (kernel_us or _kernel_us)(without_waiting)
    sizes = {name: getattr(case, name) for name in COLUMNS[:7]}
    library_us = times[library].time_us
    return CallRow(
        **sizes, host_us=host_us, time_us=our_time.time_us, library=library,
        library_us=library_us, ratio=library_us / our_time.time_us,
    )  # fmt: skip


def rows_of(
    cases: Sequence[CallCase], generator: random.Random, rounds: int, compare: Callable
) -> Iterator[CallRow]:
    """Time all cases `rounds` times and yield, per case, the row with the median ratio.

    The rows are in the order of the cases. If `rounds` is even, the greater of the two middle
    ratios is taken. `generator` is the source of the random order of calls. `compare` is the
    function `compared`, or one with the same first two parameters and result.
    """
    repeated = [case for _ in range(rounds) for case in cases]
    timed = [
        row_of(case, generator, compare)
        for case in track(repeated, "As called", console=Console(stderr=True), transient=True)
    ]
    for number in range(len(cases)):
        rows_of_case = sorted(timed[number :: len(cases)], key=lambda row: row.ratio)
        yield rows_of_case[len(rows_of_case) // 2]


def _kernel_us(call: Execution) -> float:
    """Return the microseconds that a call's kernels take on the GPU."""
    return 1e3 * time_gpu([call])[0].median_ms


@dataclass(frozen=True)
class CallSummary:
    """A summary of several rows.

    rows: the number of rows.
    worst: the row with the lowest ratio.
    geometric_mean: the geometric mean of the ratios.
    behind: the number of rows in which our call is slower than the library.
    host_us: the median of the rows' `host_us`.
    """

    rows: int
    worst: CallRow
    geometric_mean: float
    behind: int
    host_us: float


def summary(rows: Sequence[CallRow]) -> CallSummary:
    """Return the summary of rows, of which there must be at least one."""
    return CallSummary(
        rows=len(rows),
        worst=min(rows, key=lambda row: row.ratio),
        geometric_mean=math.exp(statistics.fmean(math.log(row.ratio) for row in rows)),
        behind=sum(row.ratio < 1 for row in rows),
        host_us=statistics.median(row.host_us for row in rows),
    )


def file_of(device: str) -> Path:
    """Return the path of the CSV file that holds the call rows of a device."""
    return DATA / "measured" / slug(device) / "as_called.csv"


def write(new: Sequence[CallRow], path: Path) -> None:
    """Write new rows into a CSV file, and drop the file's old rows of the same functions.

    Rows of other functions are kept, before the new ones. Floats get five significant digits.
    """
    measured = {row.function for row in new}
    kept = [row for row in read(path) if row.function not in measured]
    rows.write(path, [*kept, *new], CallRow, digits=5)


def read(path: Path) -> tuple[CallRow, ...]:
    """Return the rows of a CSV file, or an empty tuple if the file does not exist.

    Raises CourseError for a file that has no rows, other columns or a wrong value.
    """
    return rows.read_if_any(path, CallRow)


def as_called_command(
    cases: Callable[[int, int], Iterable[CallCase]], count: int, processor: Processor = GPU
) -> Command:
    """Return the sub-command `as-called`, which times functions as a user calls them.

    `cases(count, seed)` returns the calls to time, of which `count` have random shapes. The option
    --count has the default `count`. `processor` is the one on which they are timed.
    """
    return Command(
        "as-called",
        f"time the function with Python included, beside {processor.libraries}; --record keeps it",
        partial(_configure, count),
        partial(_run, cases, processor),
    )


def _configure(count: int, parser: argparse.ArgumentParser) -> None:
    """Add the options --count, --seed and --record of `as-called` to a parser.

    `count` is the default of --count.
    """
    parser.add_argument(
        "--count", type=int, default=count, metavar="N", help="random shapes; default: %(default)s"
    )
    parser.add_argument(
        "--seed", type=int, default=SEED, metavar="N",
        help="of the shapes and of the order of timing; default: %(default)s",
    )  # fmt: skip
    parser.add_argument("--record", action="store_true", help="write the figures to data/measured")


def _run(
    cases: Callable[[int, int], Iterable[CallCase]],
    processor: Processor,
    options: argparse.Namespace,
) -> int:
    """Time all cases, print the table and sentences, record it with --record; return 0.

    `cases(count, seed)` returns the cases. The math libraries use one thread while they are timed.
    Raises CourseError if the processor is a GPU and there is none.
    """
    path = file_of(processor.device())
    requested = list(cases(options.count, options.seed))
    generator, compare = random.Random(options.seed), partial(compared, wait=processor.wait)
    with threadpool_limits(limits=1):
        measured = list(rows_of(requested, generator, processor.rounds, compare))
    Console(width=None if os.isatty(1) else 120).print(_table(measured))
    for line in _sentences(measured, processor.queues):
        print(line)
    if options.record:
        write(measured, path)
        print(f"Recorded in {path.relative_to(DATA.parent)}.")
    return 0


def by_function(rows: Sequence[CallRow]) -> Iterator[tuple[str, list[CallRow]]]:
    """Yield (function name, list of its rows) per function, in the order of their first rows."""
    for function in dict.fromkeys(row.function for row in rows):
        yield function, [row for row in rows if row.function == function]


def _sentences(rows: Sequence[CallRow], queues: bool) -> Iterator[str]:
    """Yield a sentence per function, with four facts from the function's rows.

    They are the number of rows, the geometric mean of the ratios, the lowest ratio with its size
    and layout, and the number of rows in which our call is slower than the library. If `queues`,
    the median microseconds of Python per call follow.
    """
    for function, rows_of_function in by_function(rows):
        all_ = summary(rows_of_function)
        host = f"; {all_.host_us:.1f} us of Python a call" if queues else ""
        yield (
            f"{function}: {all_.rows} shapes, geometric mean {all_.geometric_mean:.3f} × the "
            f"library, worst {all_.worst.ratio:.3f} at {all_.worst.size} ({all_.worst.layout}), "
            f"{all_.behind} behind it{host}."
        )


def _table(rows: Sequence[CallRow]) -> Table:
    """Return a table with the `SHOWN` rows of each function that have the lowest ratios.

    The rows of a function are together, the lowest ratio first. The columns are the function, the
    shape, the layout, the microseconds of Python per call, our time in microseconds, the fastest
    library and its time, and the ratio.
    """
    headers = ("function", "shape", "layout", "host us", "us", "library", "us", "ratio")
    table = Table(*headers, title="As called")
    for _, rows_of_function in by_function(rows):
        for row in sorted(rows_of_function, key=lambda row: row.ratio)[:SHOWN]:
            numbers = (f"{row.host_us:.1f}", f"{row.time_us:.1f}", row.library,
                       f"{row.library_us:.1f}", f"{row.ratio:.3f}")  # fmt: skip
            table.add_row(row.function, row.size, row.layout, *numbers)
    return table
