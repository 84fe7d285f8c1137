"""A model of a host, a queue and a device with a clock: it shows which actions a timer measures."""

from __future__ import annotations

import linecache
import sys
from dataclasses import dataclass

from virtual_gpu import Site

# Factors on the time of successive launches: other people's work, or a higher clock.
NOISE = (1.0, 1.004, 2.5, 0.996, 1.0, 0.94, 1.002, 0.998, 1.0, 2.2, 1.003, 1.0, 0.95, 0.999)
READING_S = 1e-7


@dataclass(frozen=True)
class Speeds:
    """The durations of the actions in the model, in seconds.

    compile_s: host, before the first launch.
    launch_s: host, for each launch and each flush.
    cold_s, hot_s: device, for the kernel with its arrays in memory or in the cache.
    flush_s: device, for a flush.
    noise: factors on the kernel's time, one per launch, used in a cycle.
    """

    compile_s: float
    launch_s: float
    cold_s: float
    hot_s: float
    flush_s: float
    noise: tuple[float, ...] = NOISE


@dataclass(frozen=True)
class QueueEvent:
    """An action of the host or the device, with its begin and end in seconds.

    `kind` is "compile", "launch", "flush" or "wait" on the host, and "kernel" or "clear" on the
    device. `site` is the line of the user's code that caused the event. `hot` is True for a kernel
    whose arrays were in the cache.
    """

    kind: str
    begin: float
    end: float
    site: Site
    hot: bool = False

    @property
    def seconds(self) -> float:
        """The duration of the event in seconds."""
        return self.end - self.begin


class Reading(float):
    """A reading of the clock in seconds.

    The difference of two readings is a `Span`, which the device records. Any other difference is a
    plain float. device: the model device that was read. site: the source line of the reading.
    """

    device: ModelDevice
    site: Site

    def __sub__(self, other):
        if not isinstance(other, Reading):
            return float(self) - other
        span = Span(float(self) - float(other))
        span.begin, span.end, span.site = other, self, _caller()
        self.device.spans.append(span)
        return span


class Span(float):
    """The seconds between two readings, `begin` and `end`.

    `site` is the line of code that subtracted them.
    """

    begin: Reading
    end: Reading
    site: Site


class ModelDevice:
    """A model device to be timed: `launch()`, `synchronize()`, `flush()` and `now()`.

    `events`, `readings` and `spans` are lists of everything that the calls did, read and
    subtracted, in order. No real time passes. `speeds` are the durations of its events.
    """

    METHODS = ("launch", "synchronize", "flush", "now")

    def __init__(self, speeds: Speeds) -> None:
        self.speeds = speeds
        self.events: list[QueueEvent] = []
        self.readings: list[Reading] = []
        self.spans: list[Span] = []
        self._host = self._free = 0.0  # the host's clock; when the device's queue is empty
        self._launches, self._cached = 0, False

    def launch(self) -> None:
        """Enqueue the kernel on the model device; the first launch compiles it first.

        The host's clock advances by the time to compile and to launch, not by that of the kernel.
        """
        site = _caller()
        if self._launches == 0:
            self._pass("compile", self.speeds.compile_s, site)
        self._pass("launch", self.speeds.launch_s, site)
        seconds = self.speeds.hot_s if self._cached else self.speeds.cold_s
        seconds *= self.speeds.noise[self._launches % len(self.speeds.noise)]
        self._enqueue("kernel", seconds, site)
        self._launches, self._cached = self._launches + 1, True

    def flush(self) -> None:
        """Enqueue work that removes the kernel's arrays from the cache."""
        site = _caller()
        self._pass("flush", self.speeds.launch_s, site)
        self._enqueue("clear", self.speeds.flush_s, site)
        self._cached = False

    def synchronize(self) -> None:
        """Advance the host's clock to the time at which the device's queue is empty."""
        self._pass("wait", max(self._free - self._host, 0.0), _caller())

    def now(self) -> Reading:
        """Advance the host's clock by `READING_S`, and record and return its time in seconds."""
        self._host += READING_S
        reading = Reading(self._host)
        reading.device, reading.site = self, _caller()
        self.readings.append(reading)
        return reading

    def __getattr__(self, name: str):
        names = ", ".join(f"{method}()" for method in self.METHODS)
        raise AttributeError(f"a device has no {name}; it has {names}")

    def _pass(self, kind: str, seconds: float, site: Site) -> None:
        """Record an event of the host and advance the host's clock by its duration."""
        self.events.append(QueueEvent(kind, self._host, self._host + seconds, site))
        self._host += seconds

    def _enqueue(self, kind: str, seconds: float, site: Site) -> None:
        """Record an event of the device.

        It begins at the host's present time, or when the queue's earlier work is done if that is
        later.
        """
        begin = max(self._host, self._free)
        self._free = begin + seconds
        hot = kind == "kernel" and self._cached
        self.events.append(QueueEvent(kind, begin, self._free, site, hot))


def _caller() -> Site:
    """Return the line of code that called the caller of `_caller`."""
    frame = sys._getframe(2)
    file, line = frame.f_code.co_filename, frame.f_lineno
    return Site(file, line, linecache.getline(file, line).strip())
