"""The sub-command `pitfalls`: time one kernel in several ways, most of which are wrong.

All repetitions are recorded, because a lesson also shows their spread.
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
class PitfallCase:
    """One kernel at one size: `n` for a product of n×n matrices, or `elements` for a copy.

    kernel: the kernel's name. The size that does not apply is None. `bind()` returns an execution,
    a function that launches the kernel. Arrays that `bind` allocates are kept only while the case
    is timed.
    """

    kernel: str
    n: int | None
    elements: int | None
    bind: Callable[[], Execution]


@dataclass(frozen=True)
class Series:
    """The times that one timer measured for one kernel at one size, a row of `pitfalls.csv`.

    kernel, n, elements: the kernel's name and its size; the size that does not apply is None.
    timer: a name from `TIMERS`, or "first" for the kernel's first call in the process.
    time_ms, time_ms_min, time_ms_max: median, minimum and maximum of the repetitions.
    times_us: all repetitions in microseconds, in the order in which they were measured.
    sm_clock_mhz: the SM clock after the last repetition; None if it cannot be read.
    date: the day of the measurement.
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
    """Return the host's time until the launch returns, in ms, without waiting for the kernel.

    `flush` is not called.
    """
    cuda.synchronize()
    start = time.perf_counter()
    execute()
    return 1e3 * (time.perf_counter() - start)


def wall(execute: Execution, flush: Execution) -> float:
    """Return the host's time from the launch until the kernel has ended, in ms.

    `flush` is not called.
    """
    cuda.synchronize()
    start = time.perf_counter()
    execute()
    cuda.synchronize()
    return 1e3 * (time.perf_counter() - start)


def events(execute: Execution, flush: Execution) -> float:
    """Return the ms between two events around a launch; the GPU may wait for the host meanwhile.

    `flush` is not called.
    """
    cuda.synchronize()
    return _between_events(execute)


def hot(execute: Execution, flush: Execution) -> float:
    """Return the ms between two queued events around a launch, with the arrays in the caches.

    For that, `execute` is called twice, and the second launch is timed. `flush` is not called.
    Everything is in the queue before the GPU starts, so that it does not wait for the host.
    """
    cuda.synchronize()
    hold_gpu(HOLD_US)
    execute()
    return _between_events(execute)


def cold(execute: Execution, flush: Execution) -> float:
    """Return the ms between two queued events, after the arrays were flushed from the L2 cache.

    Everything is in the queue before the GPU starts, so that it does not wait for the host.
    """
    cuda.synchronize()
    hold_gpu(HOLD_US)
    flush()
    return _between_events(execute)


def pause(execute: Execution, flush: Execution) -> float:
    """Return the ms between two events around a launch, after a pause of PAUSE_S seconds.

    In the pause, the GPU may lower its clock. `flush` is not called.
    """
    cuda.synchronize()
    time.sleep(PAUSE_S)
    return _between_events(execute)


TIMERS: Mapping[str, Callable[[Execution, Execution], float]] = {
    timer.__name__: timer for timer in (launch, wall, events, hot, cold, pause)
}


def _between_events(execute: Execution) -> float:
    """Return the ms between two events, of which one is recorded before and one after a launch."""
    start, end = cuda.event(), cuda.event()
    start.record()
    execute()
    end.record()
    end.synchronize()
    return start.elapsed_time(end)


@cuda.jit
def read_all(x, out):
    """Read every element of x, with any grid.

    An element below zero is stored in out[0], so that the compiler keeps the loads. The benchmark's
    arrays have no such element, so nothing is stored.
    """
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        if x[i] < float32(0):
            out[0] = x[i]


def flush_of(device: Device) -> Execution:
    """Return an execution that flushes the L2 cache by reading several times its size.

    The array is allocated now, and read once, so that the kernel is compiled. It reads and does not
    write, because written lines would have to leave the cache later, while the kernel is timed.
    """
    elements = L2_TIMES * device.l2_kib * KIB // FLOAT32_BYTES
    x, out = (cuda.to_device(np.zeros(size, np.float32)) for size in (elements, 1))
    read_all[4 * device.sms, 256](x, out)  # compiles
    return partial(read_all[4 * device.sms, 256], x, out)


def measured(cases: Iterable[PitfallCase], flush: Execution) -> Iterator[Series]:
    """Time each case with all timers and yield one series per case and timer, in this order.

    Before the first case of each kernel, a series "first" holds the time of the kernel's first
    call.
    """
    clock, launched = clock_reader(), set()
    for case in cases:
        execute = case.bind()
        cuda.synchronize()  # the case's arrays are ready before its first call
        if case.kernel not in launched:
            yield _series(case, "first", [wall(execute, flush)], clock())
        launched.add(case.kernel)
        execute()
        for name, timer in TIMERS.items():
            times = [timer(execute, flush) for _ in range(REPETITIONS)]
            yield _series(case, name, times, clock())


def _series(
    case: PitfallCase, timer: str, times_ms: Sequence[float], clock: float | None
) -> Series:
    """Return the series of a case and timer with these times, measured today.

    clock: the SM clock in MHz, or None.
    """
    return Series(
        kernel=case.kernel, n=case.n, elements=case.elements, timer=timer,
        time_ms=statistics.median(times_ms), time_ms_min=min(times_ms), time_ms_max=max(times_ms),
        times_us=tuple(1e3 * ms for ms in times_ms), sm_clock_mhz=clock,
        date=datetime.date.today().isoformat(),
    )  # fmt: skip


def file_of(device: str) -> Path:
    """Return the path of the CSV file that holds the series of a device."""
    return DATA / "measured" / slug(device) / "pitfalls.csv"


def write(series: Sequence[Series], path: Path) -> None:
    """Replace the CSV file by these series; floats get five significant digits."""
    rows.write(path, series, Series, digits=5)


def read(path: Path) -> tuple[Series, ...]:
    """Return the series of a CSV file, or an empty tuple if the file does not exist.

    Raises CourseError for a file that has no rows, other columns or a wrong value.
    """
    return rows.read_if_any(path, Series)


def pitfalls_command(cases: Callable[[], Iterable[PitfallCase]]) -> Command:
    """Return the sub-command `pitfalls`, which times kernels in right and in wrong ways.

    `cases()` returns the kernels and sizes to time, the smallest size of each kernel first.
    """
    return Command(
        "pitfalls",
        "time the same kernels in right and in wrong ways; --record keeps the figures",
        _configure,
        partial(_run, cases),
    )


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--record", action="store_true", help="write the figures to data/measured")


def _run(cases: Callable[[], Iterable[PitfallCase]], options: argparse.Namespace) -> int:
    """Time the cases on the current GPU, print a table, record it with --record; return 0.

    `cases()` returns the cases. Raises CourseError without a GPU.
    """
    device, requested = device_for("pitfalls"), list(cases())
    total = len(TIMERS) * len(requested) + len({case.kernel for case in requested})
    timed = measured(requested, flush_of(device))
    console = Console(stderr=True)
    series = list(track(timed, "Pitfalls", total, console=console, transient=True))
    Console(width=None if os.isatty(1) else 120).print(_table(series))
    if options.record:
        write(series, file_of(device.name))
        path = file_of(device.name).relative_to(DATA.parent)
        print(f"Recorded in {path}.", file=sys.stderr)
    return 0


def _table(series: Sequence[Series]) -> Table:
    """Return the printed table, one line per series, with times in microseconds.

    The columns are the kernel, the size, the timer, the median, least and greatest time, and the
    MHz of the SM clock, which is empty if unknown.
    """
    table = Table("kernel", "size", "timer", "us", "least", "most", "MHz", title="Pitfalls")
    for row in series:
        size = f"{row.n}×{row.n}" if row.n else f"{row.elements:,}"
        times = (row.time_ms, row.time_ms_min, row.time_ms_max)
        clock = f"{row.sm_clock_mhz:.0f}" if row.sm_clock_mhz else ""
        table.add_row(row.kernel, size, row.timer, *(f"{1e3 * ms:.1f}" for ms in times), clock)
    return table
