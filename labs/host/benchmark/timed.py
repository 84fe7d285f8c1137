"""The devices that a benchmark is tried on, and what lies between two readings of their clock."""

from __future__ import annotations

from dataclasses import dataclass

from utils.measuring.queue_model import Event, ModelDevice, Reading, Speeds

OF_DEVICE = ("kernel", "clear")


@dataclass(frozen=True)
class Task:
    """A device and the sizes of the product that it computes."""

    speeds: Speeds
    m: int
    n: int
    k: int

    @property
    def flops(self) -> int:
        """Of one product: a multiply-add is two."""
        return 2 * self.m * self.n * self.k

    @property
    def gflops(self) -> float:
        """The right answer: one launch to its end, with cold caches."""
        return self.flops / (self.speeds.launch_s + self.speeds.cold_s) / 1e9


# The first has sizes without simple ratios, so that a wrong count of the work fits nothing else.
TASKS = (
    Task(Speeds(0.310, 8e-6, 2.0e-3, 1.2e-3, 1.5e-3), 1056, 1888, 608),
    Task(Speeds(0.095, 20e-6, 9.0e-3, 7.5e-3, 4.0e-3), 2048, 1024, 512),
    Task(Speeds(0.740, 5e-6, 0.8e-3, 0.3e-3, 0.9e-3), 512, 640, 768),
)


@dataclass(frozen=True)
class Timed:
    """What lies between two readings of the clock.

    launched: each launch with its kernel. inside: what the host did. before: work of the device
    that was in the queue already, and had not ended when the clock was read first.
    """

    begin: Reading
    end: Reading
    launched: tuple[tuple[Event, Event], ...]
    inside: tuple[Event, ...]
    before: tuple[Event, ...]

    @property
    def seconds(self) -> float:
        """Between the readings."""
        return float(self.end) - float(self.begin)

    @property
    def running(self) -> tuple[Event, ...]:
        """Kernels that had not ended when the clock was read again."""
        return tuple(kernel for _, kernel in self.launched if kernel.end > self.end)

    def of(self, kind: str) -> tuple[Event, ...]:
        """What the host did of this kind."""
        return tuple(event for event in self.inside if event.kind == kind)


def between(device: ModelDevice, one: Reading, other: Reading) -> Timed:
    """What the events of the device say of the time between two readings, in any order."""
    begin, end = sorted((one, other))
    asked = [event for event in device.events if event.kind in ("launch", "flush")]
    works = [event for event in device.events if event.kind in OF_DEVICE]
    pairs = list(zip(asked, works, strict=True))  # each work follows what has asked for it
    launched = (
        (ask, work)
        for ask, work in pairs
        if work.kind == "kernel" and begin <= ask.begin and ask.end <= end
    )
    inside = (
        event
        for event in device.events
        if event.kind not in OF_DEVICE and begin <= event.begin < end
    )
    before = (work for ask, work in pairs if ask.end <= begin < work.end)
    return Timed(begin, end, tuple(launched), tuple(inside), tuple(before))
