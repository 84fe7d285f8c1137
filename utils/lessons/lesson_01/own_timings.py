"""Times of one kernel on the reader's device: with hot caches, after a pause, and cold."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median

from utils.ladder.shapes import GemmShape
from utils.lessons.cards import Stack, Table, table
from utils.lessons.lesson_01.dot_plot import draw_strips
from utils.lessons.lesson_01.printed_rate import rate
from utils.measuring.real_queue import CpuQueue, GpuQueue
from utils.translation import translate

REPETITIONS = 20


def draw_ways(device: CpuQueue | GpuQueue, **benchmarks: Callable) -> Stack:
    """Time the product of a device in several ways; return a picture of all times, and a table.

    The picture has one row of dots per way, and the table one row with the median and the range.

    The first row has hot caches. So has the second one, but before each launch the host sleeps for
    the time of a flush. Each further row has the repetitions that a benchmark has timed or, if it
    has not read the clock of the device it was given, the one time that follows from its rate.

    Parameters
    ----------
    device : CpuQueue or GpuQueue
        A device that has launched its product before.
    **benchmarks : callable
        Functions of (device, m, n, k) that return GFLOP/s with cold caches, by their names.
    """
    n = device.n
    work = GemmShape(n, n, n).flops
    flush_s = _until_ended(device, device.flush) / 1000
    _until_ended(device, device.launch)  # so that the caches are hot
    rows = {
        "hot": [_until_ended(device, device.launch) for _ in range(REPETITIONS)],
        "hot, after a pause": [_after_a_pause(device, flush_s) for _ in range(REPETITIONS)],
    }
    for name, benchmark in benchmarks.items():
        watched = _WatchedDevice(device)
        gflops = benchmark(watched, n, n, n)
        rows[f"{name}, cold"] = watched.times_ms or (work / gflops / 1e6,)
    drawn = draw_strips("One kernel, timed in several ways", rows)
    return Stack((drawn, _ranges(n, rows)))


def time_alone(
    device: CpuQueue | GpuQueue, kernel_us: Callable[[CpuQueue | GpuQueue], float]
) -> str:
    """Return the median and the range of repeated calls of `kernel_us`, as a sentence.

    kernel_us: times one launch of the device's kernel with CUDA's events and returns microseconds.
    Without a GPU it is not called, and the sentence says why.
    """
    if not isinstance(device, GpuQueue):
        return translate("A CPU has no events: the picture is recorded.")
    times = [kernel_us(device) for _ in range(REPETITIONS)]
    ends = f"{min(times):.1f} to {max(times):.1f}"
    return f"{device.name}: {median(times):.1f} us alone and cold, range {ends} us"


def _ranges(n: int, rows: Mapping[str, Sequence[float]]) -> Table:
    """Tabulate the median, the range and the rate of repeated times of an n×n product.

    rows: times in ms by the name of their row.
    """
    cells = [
        (
            name,
            f"{median(times):.2f}",
            f"{min(times):.2f}–{max(times):.2f}",
            f"{rate(n, n, n, 1000 * median(times)):,.1f}",
        )
        for name, times in rows.items()
    ]
    head = ("", "median, ms", "range, ms", "GFLOP/s")
    return table("What a report needs", head, cells)


class _WatchedDevice:
    """A device that keeps the times between two readings of its clock with launches between them.

    times_ms: the ms per launch, one entry per such pair of readings.
    """

    def __init__(self, device: CpuQueue | GpuQueue) -> None:
        self._device = device
        self._last, self._launches = None, 0
        self.times_ms: list[float] = []

    def launch(self) -> None:
        """Launch the kernel of the device, and count the launch."""
        self._launches += 1
        self._device.launch()

    def flush(self) -> None:
        """Flush the cache of the device."""
        self._device.flush()

    def synchronize(self) -> None:
        """Wait for the device."""
        self._device.synchronize()

    def now(self) -> float:
        """Return the clock of the device, in seconds.

        If there were launches since the last reading, their ms per launch go to `times_ms`.
        """
        now = self._device.now()
        if self._last is not None and self._launches:
            self.times_ms.append(1000 * (now - self._last) / self._launches)
        self._last, self._launches = now, 0
        return now


def _until_ended(device: CpuQueue | GpuQueue, put_into_queue: Callable[[], None]) -> float:
    """Return the ms from the call of `put_into_queue` until its work has ended."""
    device.synchronize()
    start = device.now()
    put_into_queue()
    device.synchronize()
    return 1000 * (device.now() - start)


def _after_a_pause(device: CpuQueue | GpuQueue, seconds: float) -> float:
    """Return the ms from a launch until its kernel has ended; the host sleeps before it."""
    time.sleep(seconds)
    return _until_ended(device, device.launch)
