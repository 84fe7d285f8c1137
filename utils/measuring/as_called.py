"""The sub-command `as-called`: functions as people call them, Python included, beside libraries'.

What a caller waits for is the wall clock over a burst of calls, to the end of the GPU's work. What
Python costs is the part of it until the last call has returned.
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
class Case:
    """One call to time. Sizes are None where they do not apply.

    bind: () -> (our call, the libraries' calls by name, our call without waiting for the GPU; None
    where it does not wait anyway). What it makes is kept only while the case is timed.
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
class Row:
    """What is recorded. ratio: the library's time over ours; the library is the fastest one.

    host_us: until the call returns; of a call that waits, without what its kernels take.
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
        """The sizes in one word."""
        return f"{self.m}×{self.n}×{self.k}" if self.elements is None else str(self.elements)


COLUMNS = tuple(field.name for field in fields(Row))


@dataclass(frozen=True)
class Called:
    """Microseconds for one call: until it returned, and until its work was done."""

    host_us: float
    time_us: float


@dataclass(frozen=True)
class Place:
    """Where calls are timed. device: its name; CourseError without one. wait: for its work.

    rounds: through all cases; of each case the round with the median ratio counts. queues: whether
    a call may return before its work is done, so that Python's part can be told apart.
    """

    device: Callable[[], str]
    wait: Callable[[], None]
    libraries: str
    rounds: int
    queues: bool


GPU = Place(
    device=lambda: device_for("as-called").name,
    wait=cuda.synchronize,
    libraries="PyTorch and CuPy",
    rounds=1,
    queues=True,
)
# A processor may have neighbours, who disturb it for seconds, which is longer than a case takes.
CPU = Place(
    device=cpu_name,
    wait=lambda: None,
    libraries="NumPy, on one thread each",
    rounds=5,
    queues=False,
)


def burst(call: Execution, calls: int, wait: Callable, clock: Callable[[], float]) -> Called:
    """Time so many calls in a row."""
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
    turns: random.Random,
    wait: Callable = cuda.synchronize,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Called]:
    """The median of each rival's bursts; in each round they take turns in another order."""
    calls = {}
    for name, call in rivals.items():
        call()  # compiles, plans, allocates
        once = burst(call, FEWEST_CALLS, wait, clock).time_us
        calls[name] = max(FEWEST_CALLS, min(MOST_CALLS, round(BURST_US / max(once, 1e-3))))
    samples = {name: [] for name in rivals}
    for _ in range(REPETITIONS):
        for name in turns.sample(sorted(rivals), len(rivals)):
            samples[name].append(burst(rivals[name], calls[name], wait, clock))
    return {
        name: Called(
            statistics.median(sample.host_us for sample in of_rival),
            statistics.median(sample.time_us for sample in of_rival),
        )
        for name, of_rival in samples.items()
    }


def row_of(case: Case, turns: random.Random, compare=compared, kernel_us=None) -> Row:
    """Time one case. compare, kernel_us: `compared`, and a call -> microseconds on the GPU."""
    ours, libraries, without_waiting = case.bind()
    times = compare({"": ours} | dict(libraries), turns)
    mine = times.pop("")
    library = min(times, key=lambda name: times[name].time_us)
    host_us = mine.host_us
    if without_waiting is not None:
        host_us -= (kernel_us or _kernel_us)(without_waiting)
    sizes = {name: getattr(case, name) for name in COLUMNS[:7]}
    library_us = times[library].time_us
    return Row(
        **sizes, host_us=host_us, time_us=mine.time_us, library=library, library_us=library_us,
        ratio=library_us / mine.time_us,
    )  # fmt: skip


def rows_of(
    cases: Sequence[Case], turns: random.Random, rounds: int, compare: Callable
) -> Iterator[Row]:
    """The row of each case: of several rounds through all cases the one with its median ratio."""
    listed = [case for _ in range(rounds) for case in cases]
    found = [
        row_of(case, turns, compare)
        for case in track(listed, "As called", console=Console(stderr=True), transient=True)
    ]
    for number in range(len(cases)):
        of_case = sorted(found[number :: len(cases)], key=lambda row: row.ratio)
        yield of_case[len(of_case) // 2]


def _kernel_us(call: Execution) -> float:
    return 1e3 * time_gpu([call])[0].median_ms


@dataclass(frozen=True)
class Summary:
    """What many rows come to. behind: how many are slower than the library."""

    rows: int
    worst: Row
    geometric_mean: float
    behind: int
    host_us: float


def summary(found: Sequence[Row]) -> Summary:
    """Of at least one row. host_us: the median."""
    return Summary(
        rows=len(found),
        worst=min(found, key=lambda row: row.ratio),
        geometric_mean=math.exp(statistics.fmean(math.log(row.ratio) for row in found)),
        behind=sum(row.ratio < 1 for row in found),
        host_us=statistics.median(row.host_us for row in found),
    )


def file_of(device: str) -> Path:
    """Where the rows of a device lie."""
    return DATA / "measured" / slug(device) / "as_called.csv"


def write(found: Sequence[Row], path: Path) -> None:
    """Replace the rows of these functions; those of others stay. Five significant digits."""
    measured = {row.function for row in found}
    kept = [row for row in read(path) if row.function not in measured]
    rows.write(path, [*kept, *found], Row, digits=5)


def read(path: Path) -> tuple[Row, ...]:
    """The rows of a file; none where there is no file."""
    return rows.read_if_any(path, Row)


def as_called_command(
    cases: Callable[[int, int], Iterable[Case]], count: int, place: Place = GPU
) -> Command:
    """cases: (how many random ones, seed) -> what to time. count: how many, where nobody says."""
    return Command(
        "as-called",
        f"time the function with Python included, beside {place.libraries}; --record keeps it",
        partial(_configure, count),
        partial(_run, cases, place),
    )


def _configure(count: int, parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--count", type=int, default=count, metavar="N", help="random shapes; default: %(default)s"
    )
    parser.add_argument(
        "--seed", type=int, default=SEED, metavar="N",
        help="of the shapes and of the turns; default: %(default)s",
    )  # fmt: skip
    parser.add_argument("--record", action="store_true", help="write the figures to data/measured")


def _run(
    cases: Callable[[int, int], Iterable[Case]], place: Place, options: argparse.Namespace
) -> int:
    path = file_of(place.device())
    listed = list(cases(options.count, options.seed))
    turns, compare = random.Random(options.seed), partial(compared, wait=place.wait)
    with threadpool_limits(limits=1):
        found = list(rows_of(listed, turns, place.rounds, compare))
    Console(width=None if os.isatty(1) else 120).print(_table(found))
    for line in _sentences(found, place.queues):
        print(line)
    if options.record:
        write(found, path)
        print(f"Recorded in {path.relative_to(DATA.parent)}.")
    return 0


def by_function(found: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Each function, in the order of its first row, and its rows."""
    for function in dict.fromkeys(row.function for row in found):
        yield function, [row for row in found if row.function == function]


def _sentences(rows: Sequence[Row], queues: bool) -> Iterator[str]:
    for function, of_function in by_function(rows):
        found = summary(of_function)
        host = f"; {found.host_us:.1f} us of Python a call" if queues else ""
        yield (
            f"{function}: {found.rows} shapes, geometric mean {found.geometric_mean:.3f} × the "
            f"library, worst {found.worst.ratio:.3f} at {found.worst.size} ({found.worst.layout}), "
            f"{found.behind} behind it{host}."
        )


def _table(rows: Sequence[Row]) -> Table:
    """Of each function those with the least ratio."""
    headers = ("function", "shape", "layout", "host us", "us", "library", "us", "ratio")
    table = Table(*headers, title="As called")
    for _, of_function in by_function(rows):
        for row in sorted(of_function, key=lambda row: row.ratio)[:SHOWN]:
            numbers = (f"{row.host_us:.1f}", f"{row.time_us:.1f}", row.library,
                       f"{row.library_us:.1f}", f"{row.ratio:.3f}")  # fmt: skip
            table.add_row(row.function, row.size, row.layout, *numbers)
    return table
