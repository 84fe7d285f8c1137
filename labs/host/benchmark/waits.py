"""Examine a function that times one launch: does it wait before each reading of the clock?

A probe takes one call of the function and returns sentences on a fault, or None.
"""

from __future__ import annotations

import itertools
import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from labs.checking.phrasing import at, at_line, counted
from labs.host.benchmark.answers import figure
from labs.host.benchmark.faults import wait_inside, where_it_waits
from labs.host.benchmark.timed_spans import TASKS, TimedSpan, between
from labs.host.exercise import Examination
from utils.measuring.durations import duration
from utils.measuring.queue_model import READING_S, ModelDevice, Speeds

WITHIN = 0.001  # the relative tolerance of a right answer; a launch is a larger share
DRAWN = 3  # devices that are drawn anew in each examination


@dataclass(frozen=True, eq=False)
class WaitsRun:
    """One call of a reader's function.

    device: the model device after the call, with its record. answer: what the function returned; it
    may be any object until `_no_number` has accepted it as a number.
    """

    device: ModelDevice
    answer: float

    @property
    def right_us(self) -> float:
        """The right answer in microseconds.

        It is the time from a launch until its kernel has ended, and that of one clock reading.
        """
        return 1e6 * (self.device.speeds.launch_s + self.device.speeds.hot_s + READING_S)

    @property
    def right(self) -> bool:
        """True if the answer is within 0.1 % of the right one."""
        return abs(self.answer / self.right_us - 1) <= WITHIN

    @property
    def timed(self) -> TimedSpan | None:
        """The last span with a launch between two readings that are subtracted, or None.

        If no readings are subtracted, as in `1e6 * end - 1e6 * start`, it is the last span with a
        launch between consecutive readings.
        """
        subtracted = [(one.begin, one.end) for one in self.device.spans]
        pairs = subtracted or [*itertools.pairwise(self.device.readings)]
        spans = (between(self.device, *pair) for pair in reversed(pairs))
        return next((one for one in spans if one.launched), None)


def examine_waits(two_waits: Callable) -> Examination:
    """Call the reader's function on several devices, and return the outcome with its first cause.

    two_waits: takes a device and returns microseconds.
    """
    facts = []
    for speeds in (*(task.speeds for task in TASKS), *_drawn(Random())):
        device = ModelDevice(replace(speeds, noise=(1.0,)))
        run = WaitsRun(device, two_waits(device))
        if cause := next((words for probe in PROBES if (words := probe(run))), None):
            return Examination((cause,))
        facts.append(f"{figure(run.answer)} us, and {figure(run.right_us)} us are right")
    shown = "; ".join(facts[: len(TASKS)])
    return Examination((), (f"On three of the devices: {shown}.",), {"devices": len(facts)})


def _drawn(random: Random) -> list[Speeds]:
    """Return the speeds of DRAWN random devices, so that a table of answers is of no use.

    They are those of the first task, with the cold and the hot time multiplied by the same random
    factor from 1.5 to 4.
    """
    first, factors = TASKS[0].speeds, [random.uniform(1.5, 4.0) for _ in range(DRAWN)]
    return [replace(first, cold_s=f * first.cold_s, hot_s=f * first.hot_s) for f in factors]


def _no_number(run: WaitsRun) -> str | None:
    """Return a sentence if the answer is no finite number, else None."""
    answer = run.answer
    if answer is None:
        return "The function returns nothing: a `return` with the time is missing at its end."
    if isinstance(answer, bool) or not isinstance(answer, numbers.Real):
        return f"The function returns `{answer!r:.60}`, and the time is one number."
    return None if math.isfinite(answer) else f"The function returns {answer}: this is no time."


def _nothing_launched(run: WaitsRun) -> str | None:
    """Return a sentence if the function launches nothing, else None."""
    if any(event.kind == "launch" for event in run.device.events):
        return None
    return "`launch()` is never called, so nothing was timed."


def _no_clock(run: WaitsRun) -> str | None:
    """Return a sentence if the clock is read less than twice, else None."""
    readings = len(run.device.readings)
    if readings >= 2:
        return None
    return (
        f"The device's clock, `now()`, was read {counted(readings, 'time')}. A time is the "
        "difference of two readings."
    )


def _nothing_timed(run: WaitsRun) -> str | None:
    """Return a sentence if no launch is between two readings that are subtracted, else None.

    Also returns None if the answer is right.
    """
    if run.right or run.timed:
        return None
    launches = [event for event in run.device.events if event.kind == "launch"]
    return (
        "No launch lies between two readings of the clock that you subtract. The last launch is "
        f"in {at_line(launches[-1].site)}."
    )


def _backwards(run: WaitsRun) -> str | None:
    """Return a sentence if the answer is negative, else None."""
    if run.answer >= 0:
        return None
    return (
        "The time is negative: in your difference the earlier reading comes first, and the later "
        "one is subtracted from it."
    )


def _kernel_runs_on(run: WaitsRun) -> str | None:
    """Return sentences if the clock is read before the timed kernel has ended, else None.

    Also returns None if the answer is right.
    """
    one = run.timed
    if run.right or not one.running:
        return None
    return (
        f"{at(one.end.site)}: the clock is read too early. The kernel ends "
        f"{duration(one.running[-1].end - one.end)} later, and the {duration(one.seconds)} between "
        f"your readings are {wait_inside(one)}what the launch took the host. "
        f"{where_it_waits(run.device, one)}"
    )


def _work_of_before(run: WaitsRun) -> str | None:
    """Return sentences if the clock is started while an earlier kernel runs, else None.

    Also returns None if the answer is right.
    """
    one = run.timed
    if run.right or not one.before:
        return None
    last = one.before[-1]
    return (
        f"{at(one.begin.site)}: the clock starts while the kernel of {at_line(last.site)} is still "
        f"at work. It ends {duration(last.end - one.begin)} later, and the timed kernel waits for "
        f"it in the queue. So the {duration(one.seconds)} between your readings hold both."
    )


def _several_launches(run: WaitsRun) -> str | None:
    """Return a sentence if the time holds several launches, else None.

    Also returns None if the answer is right.
    """
    one = run.timed
    if run.right or len(one.launched) == 1:
        return None
    return f"Your time holds {len(one.launched)} launches, and it should be that of one launch."


def _compiling(run: WaitsRun) -> str | None:
    """Return sentences if the time includes compiling, else None.

    Also returns None if the answer is right.
    """
    if run.right or not (compilations := run.timed.of("compile")):
        return None
    return (
        f"{at(compilations[0].site)}: this first launch compiles the kernel, and you timed it. "
        f"The compiler takes {duration(compilations[0].seconds)} of the "
        f"{duration(run.timed.seconds)} between your readings."
    )


def _another_number(run: WaitsRun) -> str | None:
    """Return a sentence if the answer is not right, else None.

    The probes before it have found no fault of the time itself, so the answer is another number.
    """
    if run.right:
        return None
    return (
        f"Between your readings are {duration(run.timed.seconds)}, but your function returns "
        f"{figure(run.answer)}, which is {figure(run.answer / run.right_us)} times as much as is "
        "right."
    )


def _idle_wait(run: WaitsRun) -> str | None:
    """Return sentences if a wait finds an empty queue, else None."""
    waits = [event for event in run.device.events if event.kind == "wait"]
    idle = next((event for event in waits if event.seconds == 0), None)
    if idle is None:
        return None
    return (
        f"Your time is right, but you wait {counted(len(waits), 'time')}. "
        f"{at(idle.site)}: the queue is empty already, so this wait does nothing."
    )


PROBES = (
    _no_number,
    _nothing_launched,
    _no_clock,
    _nothing_timed,
    _backwards,
    _kernel_runs_on,
    _several_launches,
    _compiling,
    _work_of_before,
    _another_number,
    _idle_wait,
)
