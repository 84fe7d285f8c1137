"""The sub-command `pitfalls`: the same kernel, timed in several ways of which most are wrong.

All repetitions are kept, because their spread is a part of what a lesson shows.
"""

from __future__ import annotations

import argparse
import datetime
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numba import cuda, float32
from rich.console import Console
from rich.progress import track
from rich.table import Table

from utils.ladder.libraries import Execution
from utils.ladder.shapes import FLOAT32_BYTES
from utils.machine.devices import KIB, Device, slug
from utils.measuring import rows
from utils.measuring.command_line import Command, device_for
from utils.measuring.measure import L2_TIMES
from utils.measuring.rows import Date
from utils.measuring.timing import clock_reader, hold_gpu
from utils.paths import DATA

REPETITIONS = 20
PAUSE_S = 0.2  # long enough for a GPU to lower its clock
HOLD_US = 500  # longer than the host needs to enqueue one repetition


@dataclass(frozen=True)
class Case:
    """One kernel at one size. n: of a product of n×n. elements: of a copy.

    bind: () -> an execution. What it makes is kept only while the case is timed.
    """

    kernel: str
    n: int | None
    elements: int | None
    bind: Callable[[], Execution]


@dataclass(frozen=True)
class Series:
    """What one way to measure says of one kernel at one size.

    timer: a name of `TIMERS`, or "first". time_ms, time_ms_min, time_ms_max: of the repetitions,
    the first is their median. times_us: each of them, in the order in which they were measured.
    sm_clock_mhz: seen after the last; None where it cannot be read.
    """

    kernel: str
    n: int | None
    elements: int | None
    timer: str
    time_ms: float
    time_ms_min: float
    time_ms_max: float
    times_us: tuple[float, ...]
    sm_clock_mhz: float | None
    date: Date


def launch(execute: Execution, flush: Execution) -> float:
    """Until the launch has returned: nobody waits for the kernel."""
    cuda.synchronize()
    start = time.perf_counter()
    execute()
    return 1e3 * (time.perf_counter() - start)


def wall(execute: Execution, flush: Execution) -> float:
    """Until the kernel has ended, by the host's clock."""
    cuda.synchronize()
    start = time.perf_counter()
    execute()
    cuda.synchronize()
    return 1e3 * (time.perf_counter() - start)


def events(execute: Execution, flush: Execution) -> float:
    """Between two events around one launch; the GPU may wait for the host in between."""
    cuda.synchronize()
    return _between_events(execute)


def hot(execute: Execution, flush: Execution) -> float:
    """Between two events that already wait in the queue; the caches hold what they can."""
    cuda.synchronize()
    hold_gpu(HOLD_US)
    execute()
    return _between_events(execute)


def cold(execute: Execution, flush: Execution) -> float:
    """The same, and the L2 cache holds nothing of the kernel's arrays."""
    cuda.synchronize()
    hold_gpu(HOLD_US)
    flush()
    return _between_events(execute)


def pause(execute: Execution, flush: Execution) -> float:
    """The same as `events` after a pause, in which the GPU may have lowered its clock."""
    cuda.synchronize()
    time.sleep(PAUSE_S)
    return _between_events(execute)


TIMERS: Mapping[str, Callable[[Execution, Execution], float]] = {
    timer.__name__: timer for timer in (launch, wall, events, hot, cold, pause)
}


def _between_events(execute: Execution) -> float:
    start, end = cuda.event(), cuda.event()
    start.record()
    execute()
    end.record()
    end.synchronize()
    return start.elapsed_time(end)


@cuda.jit
def read_all(x, out):
    """Read every element and store none."""
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        if x[i] < float32(0):
            out[0] = x[i]


def flush_of(device: Device) -> Execution:
    """An execution that reads so much that nothing else is left in the L2 cache.

    It reads and does not write: what is written would still have to leave the cache later, while
    the kernel is timed.
    """
    elements = L2_TIMES * device.l2_kib * KIB // FLOAT32_BYTES
    x, out = (cuda.to_device(np.zeros(size, np.float32)) for size in (elements, 1))
    read_all[4 * device.sms, 256](x, out)  # compiles
    return partial(read_all[4 * device.sms, 256], x, out)


def measured(cases: Iterable[Case], flush: Execution) -> Iterator[Series]:
    """All ways to time each case. The first case of each kernel also gives its first call."""
    clock, seen = clock_reader(), set()
    for case in cases:
        execute = case.bind()
        cuda.synchronize()  # what the case needs is there before its first call
        if case.kernel not in seen:
            yield _series(case, "first", [wall(execute, flush)], clock())
        seen.add(case.kernel)
        execute()
        for name, timer in TIMERS.items():
            times = [timer(execute, flush) for _ in range(REPETITIONS)]
            yield _series(case, name, times, clock())


def _series(case: Case, timer: str, times_ms: Sequence[float], clock: float | None) -> Series:
    return Series(
        kernel=case.kernel, n=case.n, elements=case.elements, timer=timer,
        time_ms=statistics.median(times_ms), time_ms_min=min(times_ms), time_ms_max=max(times_ms),
        times_us=tuple(1e3 * ms for ms in times_ms), sm_clock_mhz=clock,
        date=datetime.date.today().isoformat(),
    )  # fmt: skip


def file_of(device: str) -> Path:
    """Where the series of a device lie."""
    return DATA / "measured" / slug(device) / "pitfalls.csv"


def write(series: Sequence[Series], path: Path) -> None:
    """Replace the file. Five significant digits."""
    rows.write(path, series, Series, digits=5)


def read(path: Path) -> tuple[Series, ...]:
    """The series of a file; none where there is no file."""
    return rows.read_if_any(path, Series)


def pitfalls_command(cases: Callable[[], Iterable[Case]]) -> Command:
    """cases: what to time, the smallest size of each kernel first."""
    return Command(
        "pitfalls",
        "time the same kernels in right and in wrong ways; --record keeps the figures",
        _configure,
        partial(_run, cases),
    )


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--record", action="store_true", help="write the figures to data/measured")


def _run(cases: Callable[[], Iterable[Case]], options: argparse.Namespace) -> int:
    device, listed = device_for("pitfalls"), list(cases())
    total = len(TIMERS) * len(listed) + len({case.kernel for case in listed})
    found = measured(listed, flush_of(device))
    console = Console(stderr=True)
    series = list(track(found, "Pitfalls", total, console=console, transient=True))
    Console(width=None if os.isatty(1) else 120).print(_table(series))
    if options.record:
        write(series, file_of(device.name))
        shown = file_of(device.name).relative_to(DATA.parent)
        print(f"Recorded in {shown}.", file=sys.stderr)
    return 0


def _table(series: Sequence[Series]) -> Table:
    table = Table("kernel", "size", "timer", "us", "least", "most", "MHz", title="Pitfalls")
    for one in series:
        size = f"{one.n}×{one.n}" if one.n else f"{one.elements:,}"
        times = (one.time_ms, one.time_ms_min, one.time_ms_max)
        clock = f"{one.sm_clock_mhz:.0f}" if one.sm_clock_mhz else ""
        table.add_row(one.kernel, size, one.timer, *(f"{1e3 * ms:.1f}" for ms in times), clock)
    return table
