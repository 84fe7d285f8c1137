"""The tasks that a benchmark is called with, and the spans between two readings of the clock."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from utils.measuring.queue_model import ModelDevice, QueueEvent, Reading, Speeds

OF_DEVICE = ("kernel", "clear")  # kinds of events that the device executes, not the host


@dataclass(frozen=True)
class BenchmarkTask:
    """A model device and a product that it computes.

    speeds: the speeds of the device. m, n, k: the sizes of the product.
    """

    speeds: Speeds
    m: int
    n: int
    k: int

    @property
    def flops(self) -> int:
        """The number of floating-point operations of one product; a multiply-add counts as two."""
        return 2 * self.m * self.n * self.k

    @property
    def gflops(self) -> float:
        """The right answer in GFLOP/s, for the time of one launch with cold caches.

        This time goes from the launch until its kernel has ended.
        """
        return self.flops / (self.speeds.launch_s + self.speeds.cold_s) / 1e9


# The first has sizes without simple ratios, so that a wrong count of the work fits nothing else.
TASKS = (
    BenchmarkTask(Speeds(0.310, 8e-6, 2.0e-3, 1.2e-3, 1.5e-3), 1056, 1888, 608),
    BenchmarkTask(Speeds(0.095, 20e-6, 9.0e-3, 7.5e-3, 4.0e-3), 2048, 1024, 512),
    BenchmarkTask(Speeds(0.740, 5e-6, 0.8e-3, 0.3e-3, 0.9e-3), 512, 640, 768),
)


def drawn_tasks(random: Random) -> tuple[BenchmarkTask, ...]:
    """Return variants of the first task whose kernels take 1.2 to 3 times as long, drawn at random.

    Each has the same product on another device. There is one variant per entry of the first task's
    `noise`, the factors on the times of successive launches, and each begins with another entry. So
    a benchmark that uses a single launch is wrong on at least one device. No two launches of a
    device take the same time, so that the answer shows from which launches it was computed.
    """
    first = TASKS[0]
    noise = tuple(one * (1 + 1e-4 * i) for i, one in enumerate(first.speeds.noise))
    tasks = []
    for start in range(len(noise)):
        factor = random.uniform(1.2, 3.0)
        speeds = replace(
            first.speeds,
            cold_s=factor * first.speeds.cold_s,
            hot_s=factor * first.speeds.hot_s,
            noise=noise[start:] + noise[:start],
        )
        tasks.append(replace(first, speeds=speeds))
    return tuple(tasks)


@dataclass(frozen=True)
class TimedSpan:
    """The time between two readings of the clock, with the events in it.

    begin, end: the earlier and the later reading. launched: pairs (launch, its kernel) for each
    launch in the span. inside: the host's events that begin in the span. before: the device's work,
    from before the first reading, that had not ended at this reading.
    """

    begin: Reading
    end: Reading
    launched: tuple[tuple[QueueEvent, QueueEvent], ...]
    inside: tuple[QueueEvent, ...]
    before: tuple[QueueEvent, ...]

    @property
    def seconds(self) -> float:
        """The time between the two readings in seconds."""
        return float(self.end) - float(self.begin)

    @property
    def running(self) -> tuple[QueueEvent, ...]:
        """The kernels launched in the span that had not ended at the second reading."""
        return tuple(kernel for _, kernel in self.launched if kernel.end > self.end)

    def of(self, kind: str) -> tuple[QueueEvent, ...]:
        """Return the host's events of one kind in the span, in order; kind: such as "wait"."""
        return tuple(event for event in self.inside if event.kind == kind)


def between(device: ModelDevice, first: Reading, second: Reading) -> TimedSpan:
    """Return the span between two readings of a device's clock, given in any order."""
    begin, end = sorted((first, second))
    requests = [event for event in device.events if event.kind in ("launch", "flush")]
    works = [event for event in device.events if event.kind in OF_DEVICE]
    pairs = list(zip(requests, works, strict=True))  # the device works in the order of requests
    launched = (
        (request, work)
        for request, work in pairs
        if work.kind == "kernel" and begin <= request.begin and request.end <= end
    )
    inside = (
        event
        for event in device.events
        if event.kind not in OF_DEVICE and begin <= event.begin < end
    )
    before = (work for request, work in pairs if request.end <= begin < work.end)
    return TimedSpan(begin, end, tuple(launched), tuple(inside), tuple(before))
