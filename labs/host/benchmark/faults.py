"""What a benchmark of the reader's has measured, and which of its faults explains its answer.

The model of the device remembers what was done and which readings of its clock were subtracted. So
most faults are seen, and not guessed. What is left is arithmetic.
"""

from __future__ import annotations

import itertools
import math
import numbers
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from labs.checking.phrasing import at, at_line, counted
from labs.host.benchmark.answers import MEDIAN, Explanation, about_average, explanation, figure
from labs.host.benchmark.timed import OF_DEVICE, TASKS, Task, Timed, between
from labs.host.exercise import Examined
from utils.measuring.durations import duration
from utils.measuring.queue_model import ModelDevice
from virtual_gpu import Site

WITHIN = 0.02
FEWEST = 7
# An average that a single time changes little.
ROBUST = (MEDIAN, "least", "last")


@dataclass(frozen=True, eq=False)
class Seen:
    """One call: the task, the device after it, and the answer, a number from `_no_number` on."""

    task: Task
    device: ModelDevice
    answer: float

    @property
    def right(self) -> bool:
        """Whether the answer is that of a right benchmark."""
        return abs(self.answer / self.task.gflops - 1) <= WITHIN

    @cached_property
    def timed(self) -> list[Timed]:
        """What was timed; of several kinds of differences those that explain the answer."""

        def likely(kind: list[Timed]) -> tuple:
            return self._explained(kind) is not None, len({one.begin for one in kind}), len(kind)

        return max(self._kinds, key=likely, default=[])

    @cached_property
    def times(self) -> list[float]:
        """Seconds for one launch, of all that was timed."""
        return [one.seconds / len(one.launched) for one in self.timed]

    @cached_property
    def explanation(self) -> Explanation | None:
        """How the answer follows from the times, if one of the known ways does it."""
        return self._explained(self.timed)

    @property
    def robust(self) -> bool:
        """Whether one of the times changes next to nothing of the answer."""
        average = self.explanation.average if self.explanation else None
        return len(self.timed) > 2 and average in ROBUST

    def _explained(self, kind: list[Timed]) -> Explanation | None:
        times = [one.seconds / len(one.launched) for one in kind]
        return explanation(self.task, self.answer, times) if times else None

    @property
    def _kinds(self) -> list[list[Timed]]:
        """Differences of readings by the source line that made them; else of neighbours."""
        by_line: dict[int, list[Timed]] = {}
        for span in self.device.spans:
            timed = between(self.device, span.begin, span.end)
            by_line.setdefault(span.site.line, []).append(timed)
        pairs = itertools.pairwise(self.device.readings)
        kinds = by_line.values() or [[between(self.device, *pair) for pair in pairs]]
        launched = [[one for one in kind if one.launched] for kind in kinds]
        return [kind for kind in launched if kind]


def examine(benchmark: Callable) -> Examined:
    """Call it for each task; the causes of the first wrong answer."""
    facts = []
    for task in TASKS:
        device = ModelDevice(task.speeds)
        seen = Seen(task, device, benchmark(device, task.m, task.n, task.k))
        told = next((words for probe in PROBES if (words := probe(seen))), None)
        if causes := (told,) if told else _arithmetic(seen):
            return Examined(causes)
        facts.append(f"{seen.answer:,.0f} GFLOP/s, and {task.gflops:,.0f} are right")
    return Examined(facts=(f"On the three devices: {'; '.join(facts)}.", *_remarks(seen)))


def _remarks(seen: Seen) -> Iterator[str]:
    if any(one.of("compile") for one in seen.timed):
        yield (
            "The first launch, which compiles, is one of your times. The median leaves it out; a "
            "mean would not."
        )


def _no_number(seen: Seen) -> str | None:
    answer = seen.answer
    if answer is None:
        return "The function returns nothing: a `return` with the rate is missing at its end."
    if isinstance(answer, bool) or not isinstance(answer, numbers.Real):
        return f"The function returns `{answer!r:.60}`, and the rate is one number."
    if not math.isfinite(answer):
        return f"The function returns {answer}: this is no rate."
    return None


def _nothing_launched(seen: Seen) -> str | None:
    if any(event.kind == "launch" for event in seen.device.events):
        return None
    return (
        "`launch()` is never called, so nothing was timed. (`device.launch` without brackets only "
        "names it.)"
    )


def _no_clock(seen: Seen) -> str | None:
    readings = seen.device.readings
    if len(readings) >= 2:
        return None
    return (
        f"The device's clock, `now()`, was read {counted(len(readings), 'time')}. A time is the "
        "difference of two readings. (The device is a model: other clocks do not see its work.)"
    )


def _nothing_timed(seen: Seen) -> str | None:
    if seen.timed:
        return None
    *_, first, last = seen.device.readings
    launches = [event for event in seen.device.events if event.kind == "launch"]
    return (
        "No launch lies between two readings of the clock that you subtract. The launch is in "
        f"{at_line(launches[-1].site)}; the clock is read in {_lines(first.site, last.site)}."
    )


def _kernel_runs_on(seen: Seen) -> str | None:
    """The clock is read before the kernel has ended."""
    one = next((one for one in seen.timed if one.running), None)
    if seen.right or one is None:
        return None
    last, still = one.running[-1], ""
    if len(one.launched) > 1:
        still = f"{len(one.running)} of the {len(one.launched)} kernels are in the queue, and "
    compiling = ", compiling included" if one.of("compile") else ""
    return (
        f"{at(one.end.site)}: the clock is read too early: {still}the last kernel ends "
        f"{duration(last.end - one.end)} later. The {duration(one.seconds)} are what "
        f"{_launches(len(one.launched))} took the host{compiling}. {_where_it_waits(seen, one)}"
    )


def _where_it_waits(seen: Seen, one: Timed) -> str:
    """What the benchmark does about the kernels of a time that was read too early."""
    before = [event for event in one.of("wait") if event.end <= one.launched[-1][0].begin]
    if before:
        return f"You wait in {at_line(before[-1].site)}, before the launch."
    host = [event for event in seen.device.events if event.kind not in OF_DEVICE]
    behind = next((event for event in host if event.begin >= one.end), None)
    if behind and behind.kind == "wait":
        return f"You wait in {at_line(behind.site)}, when the clock has been read."
    if any(event.kind == "wait" for event in host):
        return "Nobody waits between the launch and this reading."
    return "`synchronize()` is never called."


def _flush_timed(seen: Seen) -> str | None:
    flushes = [event for one in seen.timed for event in one.of("flush")]
    if seen.right or not flushes:
        return None
    speeds = seen.task.speeds
    return (
        f"{at(flushes[0].site)}: the flush lies between your two readings of the clock, and it "
        f"takes {duration(speeds.flush_s)}. The kernel alone takes {duration(speeds.cold_s)}."
    )


def _one_start(seen: Seen) -> str | None:
    """Every time begins at the same reading."""
    if seen.right or len(seen.timed) < 2 or len({one.begin for one in seen.timed}) > 1:
        return None
    last = seen.timed[-1]
    return (
        f"{at(last.begin.site)}: the clock is read here once, and each of your "
        f"{len(seen.timed)} times begins at this reading. The last one, {duration(last.seconds)}, "
        f"holds {_launches(len(last.launched))}."
    )


def _work_of_before(seen: Seen) -> str | None:
    """The clock starts while something else still runs."""
    late = [one for one in seen.timed if one.before]
    if seen.right or not late or (seen.robust and 2 * len(late) < len(seen.timed)):
        return None
    one, last = late[-1], late[-1].before[-1]
    what = "the flush" if last.kind == "clear" else "an earlier launch"
    return (
        f"{at(one.begin.site)}: the clock starts while {what} of {at_line(last.site)} is still at "
        f"work. It ends {duration(last.end - one.begin)} later, and your kernel waits for it in "
        f"the queue: the {duration(one.seconds)} that you took hold both."
    )


def _compiling(seen: Seen) -> str | None:
    found = [(one, event) for one in seen.timed for event in one.of("compile")]
    if seen.right or not found or seen.robust:
        return None
    one, event = found[0]
    _, kernel = one.launched[0]
    return (
        f"{at(event.site)}: the first launch compiles the kernel, and you timed it. Of the "
        f"{duration(one.seconds)} between your readings {duration(event.seconds)} are the "
        f"compiler's; the kernel of this launch took {duration(kernel.seconds)}."
    )


def _hot_cache(seen: Seen) -> str | None:
    kernels = [kernel for one in seen.timed for _, kernel in one.launched]
    hot = [kernel for kernel in kernels if kernel.hot]
    if seen.right or not hot:
        return None
    speeds, flushed = seen.task.speeds, any(e.kind == "flush" for e in seen.device.events)
    how = "not flushed before each of them" if flushed else "never flushed"
    return (
        f"{at(hot[0].site)}: {len(hot)} of the {len(kernels)} launches that you timed found their "
        f"arrays in the cache, where the launch before had left them. The kernel then takes "
        f"{duration(speeds.hot_s)}, and {duration(speeds.cold_s)} where they come from memory. The "
        f"cache is {how}."
    )


def _too_few(seen: Seen) -> str | None:
    launches = sum(len(one.launched) for one in seen.timed)
    if launches >= FEWEST:
        return None
    return (
        f"You timed {_launches(launches)}. Now and then a launch is disturbed here and takes up to "
        f"{max(seen.task.speeds.noise):g} times as long. Among so few, one of these decides too "
        "much."
    )


def _arithmetic(seen: Seen) -> tuple[str, ...]:
    """The times are right, and the answer is not: what is wrong with average, work and unit."""
    if seen.right:
        return ()
    if told := seen.explanation:
        average = about_average(told.average, seen.times)
        return tuple(filter(None, (average, told.work, told.unit)))
    median = statistics.median(seen.times)
    rate = seen.task.flops / median / 1e9
    return (
        f"Your times are right: most lie near {duration(median)}. With {seen.task.flops:,} "
        f"operations this makes {rate:,.0f} GFLOP/s. Your function returns {figure(seen.answer)}, "
        f"{figure(seen.answer / rate)} times as much.",
    )


PROBES: tuple[Callable[[Seen], str | None], ...] = (
    _no_number,
    _nothing_launched,
    _no_clock,
    _nothing_timed,
    _kernel_runs_on,
    _flush_timed,
    _one_start,
    _work_of_before,
    _compiling,
    _hot_cache,
    _too_few,
)


def _lines(one: Site, other: Site) -> str:
    return f"line {one.line}" if one.line == other.line else f"lines {one.line} and {other.line}"


def _launches(number: int) -> str:
    return f"{number} launch{'es' * (number != 1)}"
