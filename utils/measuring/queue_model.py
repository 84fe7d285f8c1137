"""A host, a queue and a device as a model with a clock of its own: what a timer sees, exactly.

The rules are those of CUDA. A launch returns at once, and the first one compiles before that. The
device works through its queue in order. Whoever wants a result waits. No real time passes.
"""

from __future__ import annotations

import linecache
import sys
from dataclasses import dataclass

from virtual_gpu import Site

# What happens to a launch now and then, by turns: somebody else's work, or a higher clock.
NOISE = (1.0, 1.004, 2.5, 0.996, 1.0, 0.94, 1.002, 0.998, 1.0, 2.2, 1.003, 1.0, 0.95, 0.999)
READING_S = 1e-7


@dataclass(frozen=True)
class Speeds:
    """How long everything takes, in seconds.

    compile_s: before the first launch. launch_s: of the host, for each launch and flush. cold_s,
    hot_s: of the kernel, as its arrays lie in memory or in the cache. flush_s: of the device.
    noise: the kernel's time is multiplied by these, by turns.
    """

    compile_s: float
    launch_s: float
    cold_s: float
    hot_s: float
    flush_s: float
    noise: tuple[float, ...] = NOISE


@dataclass(frozen=True)
class Event:
    """What took time. kind: of the host compile, launch, flush, wait; of the device kernel, clear.

    site: where the caller stands. hot: of a kernel, whether the cache held its arrays.
    """

    kind: str
    begin: float
    end: float
    site: Site
    hot: bool = False

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.end - self.begin


class Reading(float):
    """What the clock showed, in seconds. The difference of two is remembered as a `Span`."""

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
    """Seconds between two readings. site: where they were subtracted."""

    begin: Reading
    end: Reading
    site: Site


class ModelDevice:
    """A device to be timed: `launch()`, `synchronize()`, `flush()` and `now()`.

    events, readings, spans: what was done with it, in order.
    """

    METHODS = ("launch", "synchronize", "flush", "now")

    def __init__(self, speeds: Speeds) -> None:
        self.speeds = speeds
        self.events: list[Event] = []
        self.readings: list[Reading] = []
        self.spans: list[Span] = []
        self._host = self._free = 0.0  # the host's clock; when the device's queue is empty
        self._launches, self._cached = 0, False

    def launch(self) -> None:
        """Put the kernel into the queue; the first launch compiles it before."""
        site = _caller()
        if self._launches == 0:
            self._pass("compile", self.speeds.compile_s, site)
        self._pass("launch", self.speeds.launch_s, site)
        takes = self.speeds.hot_s if self._cached else self.speeds.cold_s
        takes *= self.speeds.noise[self._launches % len(self.speeds.noise)]
        self._enqueue("kernel", takes, site)
        self._launches, self._cached = self._launches + 1, True

    def flush(self) -> None:
        """Put work into the queue after which the cache holds nothing of the kernel's arrays."""
        site = _caller()
        self._pass("flush", self.speeds.launch_s, site)
        self._enqueue("clear", self.speeds.flush_s, site)
        self._cached = False

    def synchronize(self) -> None:
        """Wait until the queue is empty."""
        self._pass("wait", max(self._free - self._host, 0.0), _caller())

    def now(self) -> Reading:
        """The host's clock, in seconds."""
        self._host += READING_S
        reading = Reading(self._host)
        reading.device, reading.site = self, _caller()
        self.readings.append(reading)
        return reading

    def __getattr__(self, name: str):
        names = ", ".join(f"{method}()" for method in self.METHODS)
        raise AttributeError(f"a device has no {name}; it has {names}")

    def _pass(self, kind: str, seconds: float, site: Site) -> None:
        self.events.append(Event(kind, self._host, self._host + seconds, site))
        self._host += seconds

    def _enqueue(self, kind: str, seconds: float, site: Site) -> None:
        begin = max(self._host, self._free)
        self._free = begin + seconds
        self.events.append(Event(kind, begin, self._free, site, kind == "kernel" and self._cached))


def _caller() -> Site:
    """Where the code stands that has called the function which asks."""
    frame = sys._getframe(2)
    file, line = frame.f_code.co_filename, frame.f_lineno
    return Site(file, line, linecache.getline(file, line).strip())
