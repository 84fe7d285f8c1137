"""Probes for faults of the reader's benchmark, in what it measures and in how it computes a rate.

The model of the device records its events, and which readings of its clock were subtracted. So most
faults are observed and not guessed; the others are found by arithmetic. A probe takes one call of
the benchmark and returns sentences on a fault, or None.
"""

from __future__ import annotations

import itertools
import math
import numbers
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

from labs.checking.phrasing import at, at_line, counted
from labs.host.benchmark.answers import MEDIAN, Explanation, about_average, explanation, figure
from labs.host.benchmark.timed_spans import (
    OF_DEVICE,
    TASKS,
    BenchmarkTask,
    TimedSpan,
    between,
    drawn_tasks,
)
from labs.host.exercise import Examination, Fault
from utils.measuring.durations import duration
from utils.measuring.queue_model import ModelDevice
from virtual_gpu import Site

WITHIN = 0.02  # the relative tolerance of a right answer
FEWEST = 7  # launches that a benchmark must time
PERCENT_OF_FAULT = 25  # of the points
# Averages that a single time changes little.
ROBUST = (MEDIAN, "least", "last")


@dataclass(frozen=True, eq=False)
class BenchmarkRun:
    """One call of a benchmark.

    task: the sizes of the product and the speeds of the device. device: the model device after the
    call, with its record. answer: what the benchmark returned; it may be any object until
    `_no_number` has accepted it as a number.
    """

    task: BenchmarkTask
    device: ModelDevice
    answer: float

    @property
    def right(self) -> bool:
        """True if the answer is within 2% of the right one."""
        return abs(self.answer / self.task.gflops - 1) <= WITHIN

    @cached_property
    def timed(self) -> list[TimedSpan]:
        """The timed spans that contain a launch, as a list; [] if none does.

        If several source lines subtract readings of the clock, these are the spans of one line: the
        line that explains the answer, or else the line with the most different first readings.
        """

        def likely(group: list[TimedSpan]) -> tuple:
            """Return a sort key of one source line's spans: the largest is probably the timing.

            The key is (True if they explain the answer, different first readings, spans).
            """
            return self._explained(group) is not None, len({one.begin for one in group}), len(group)

        return max(self._groups, key=likely, default=[])

    @cached_property
    def times(self) -> list[float]:
        """The time of each timed span in seconds, divided by its number of launches."""
        return [one.seconds / len(one.launched) for one in self.timed]

    @cached_property
    def explanation(self) -> Explanation | None:
        """How the answer follows from `times`: by which average, work and unit. None if unknown."""
        return self._explained(self.timed)

    @property
    def robust(self) -> bool:
        """True if the answer is an average of three or more times that ignores outliers."""
        average = self.explanation.average if self.explanation else None
        return len(self.timed) > 2 and average in ROBUST

    def _explained(self, group: list[TimedSpan]) -> Explanation | None:
        """Return how the answer follows from the times of these spans, or None if unknown."""
        times = [one.seconds / len(one.launched) for one in group]
        return explanation(self.task, self.answer, times) if times else None

    @property
    def _groups(self) -> list[list[TimedSpan]]:
        """The spans with launches: one list per source line that subtracts readings of the clock.

        If no readings are subtracted, there is one list with the spans between consecutive
        readings.
        """
        by_line: dict[int, dict[tuple, TimedSpan]] = {}
        for span in self.device.spans:  # the same readings, subtracted again, are no other span
            timed = between(self.device, span.begin, span.end)
            by_line.setdefault(span.site.line, {})[span.begin, span.end] = timed
        pairs = itertools.pairwise(self.device.readings)
        groups = [list(spans.values()) for spans in by_line.values()]
        groups = groups or [[between(self.device, *pair) for pair in pairs]]
        launched = [[one for one in group if one.launched] for group in groups]
        return [group for group in launched if group]


def examine(benchmark: Callable) -> Examination:
    """Call a benchmark for each task until one call has a fault; return the examination.

    Its `causes` has the first fault, or all faults of the arithmetic; its `faults` has all faults.
    Some tasks are drawn anew in each examination, so that a table of answers is of no use.
    benchmark: takes a device and m, n and k, and returns GFLOP/s.
    """
    facts, runs = [], []
    for task in (*TASKS, *drawn_tasks(Random())):
        device = ModelDevice(task.speeds)
        run = BenchmarkRun(task, device, benchmark(device, task.m, task.n, task.k))
        runs.append(run)
        cause = next((words for probe in PROBES if (words := probe(run))), None)
        if causes := (cause,) if cause else _arithmetic(run):
            return Examination(causes, faults=_faults(run))
        facts.append(f"{run.answer:,.0f} GFLOP/s, and {task.gflops:,.0f} are right")
    facts = facts[: len(TASKS)]
    return Examination(facts=(f"On the three devices: {'; '.join(facts)}.", *_remarks(runs)))


def _faults(run: BenchmarkRun) -> tuple[Fault, ...]:
    """Return all faults of a wrong run with their costs.

    The result is () if the mistake should cost all points: if the run measured nothing, or if its
    wrong answer cannot be explained. Each fault costs the same, because the task has four of them
    to repair.
    """
    if any(probe(run) for probe in NOTHING_MEASURED):
        return ()
    observed = [words for probe in OBSERVED if (words := probe(run))]
    computed = _arithmetic(run) if run.explanation else ()
    if not run.right and not run.explanation:
        return ()
    return tuple(Fault(words, PERCENT_OF_FAULT) for words in (*observed, *computed))


def _remarks(runs: Sequence[BenchmarkRun]) -> Iterator[str]:
    """Yield a sentence if the median of a right benchmark includes the launch that compiles."""
    if any(map(_median_holds_the_first_launch, runs)):
        yield (
            "The first launch, which compiles, is one of your times. The median leaves it out; a "
            "mean would not."
        )


def _median_holds_the_first_launch(run: BenchmarkRun) -> bool:
    """Return True if the answer is explained by all times but not by those without compiling.

    That is so if the reader's average includes the time of the launch that compiles the kernel.
    """
    others = [one for one in run.timed if not one.of("compile")]
    if len(others) == len(run.timed) or run.explanation is None:
        return False
    times = [one.seconds / len(one.launched) for one in others]
    return explanation(run.task, run.answer, times) is None


def _no_number(run: BenchmarkRun) -> str | None:
    """Return a sentence if the answer is no finite number, else None."""
    answer = run.answer
    if answer is None:
        return "The function returns nothing: a `return` with the rate is missing at its end."
    if isinstance(answer, bool) or not isinstance(answer, numbers.Real):
        return f"The function returns `{answer!r:.60}`, and the rate is one number."
    if not math.isfinite(answer):
        return f"The function returns {answer}: this is no rate."
    return None


def _nothing_launched(run: BenchmarkRun) -> str | None:
    """Return a sentence if the benchmark launches nothing, else None."""
    if any(event.kind == "launch" for event in run.device.events):
        return None
    return (
        "`launch()` is never called, so nothing was timed. (`device.launch` without brackets only "
        "names it.)"
    )


def _no_clock(run: BenchmarkRun) -> str | None:
    """Return a sentence if the benchmark reads the clock less than twice, else None."""
    readings = run.device.readings
    if len(readings) >= 2:
        return None
    return (
        f"The device's clock, `now()`, was read {counted(len(readings), 'time')}. A time is the "
        "difference of two readings. (The device is a model: other clocks do not see its work.)"
    )


def _nothing_timed(run: BenchmarkRun) -> str | None:
    """Return a sentence if no launch is between two readings that are subtracted, else None."""
    if run.timed:
        return None
    *_, first, last = run.device.readings
    launches = [event for event in run.device.events if event.kind == "launch"]
    return (
        "No launch lies between two readings of the clock that you subtract. The launch is in "
        f"{at_line(launches[-1].site)}; the clock is read in {_lines(first.site, last.site)}."
    )


def _kernel_runs_on(run: BenchmarkRun) -> str | None:
    """Return sentences if the clock is read before a timed kernel has ended, else None.

    Also returns None if the answer is right.
    """
    one = next((one for one in run.timed if one.running), None)
    if run.right or one is None:
        return None
    last, still = one.running[-1], ""
    if len(one.launched) > 1:
        still = f"{len(one.running)} of the {len(one.launched)} kernels are in the queue, and "
    compiling = ", compiling included" if one.of("compile") else ""
    return (
        f"{at(one.end.site)}: the clock is read too early: {still}the last kernel ends "
        f"{duration(last.end - one.end)} later. The {duration(one.seconds)} are "
        f"{wait_inside(one)}what {_launches(len(one.launched))} took the host{compiling}. "
        f"{where_it_waits(run.device, one)}"
    )


def wait_inside(one: TimedSpan) -> str:
    """Return a phrase such as "the wait for earlier work, 5 us, and ", or "" without such a wait.

    one: the span whose second reading is too early.
    """
    waited = sum(event.seconds for event in one.of("wait"))
    return f"the wait for earlier work, {duration(waited)}, and " if waited else ""


def where_it_waits(device: ModelDevice, one: TimedSpan) -> str:
    """Return a sentence on where a function waits that reads the clock too early.

    device: the model device after its call. one: the span whose second reading is too early.
    """
    before = [event for event in one.of("wait") if event.end <= one.launched[-1][0].begin]
    if before:
        return f"You wait in {at_line(before[-1].site)}, before the launch."
    host = [event for event in device.events if event.kind not in OF_DEVICE]
    behind = next((event for event in host if event.begin >= one.end), None)
    if behind and behind.kind == "wait":
        return f"You wait in {at_line(behind.site)}, when the clock has been read."
    if any(event.kind == "wait" for event in host):
        return "Nobody waits between the launch and this reading."
    return "`synchronize()` is never called."


def _flush_timed(run: BenchmarkRun) -> str | None:
    """Return sentences if a timed span includes a flush of the cache, else None.

    Also returns None if the answer is right.
    """
    flushes = [event for one in run.timed for event in one.of("flush")]
    if run.right or not flushes:
        return None
    speeds = run.task.speeds
    return (
        f"{at(flushes[0].site)}: the flush lies between your two readings of the clock, and it "
        f"takes {duration(speeds.flush_s)}. The kernel alone takes {duration(speeds.cold_s)}."
    )


def _one_start(run: BenchmarkRun) -> str | None:
    """Return sentences if two or more spans were timed and all begin at one reading of the clock.

    Returns None otherwise, and also if the answer is right.
    """
    if run.right or len(run.timed) < 2 or len({one.begin for one in run.timed}) > 1:
        return None
    last = run.timed[-1]
    return (
        f"{at(last.begin.site)}: the clock is read here once, and each of your "
        f"{len(run.timed)} times begins at this reading. The last one, {duration(last.seconds)}, "
        f"holds {_launches(len(last.launched))}."
    )


def _work_of_before(run: BenchmarkRun) -> str | None:
    """Return sentences if the clock is started while earlier work still runs, else None.

    Also returns None if the answer is right, or if less than half of the spans are concerned and
    the average used hardly depends on single times.
    """
    late = [one for one in run.timed if one.before]
    if run.right or not late or (run.robust and 2 * len(late) < len(run.timed)):
        return None
    one, last = late[-1], late[-1].before[-1]
    what = "the flush" if last.kind == "clear" else "an earlier launch"
    return (
        f"{at(one.begin.site)}: the clock starts while {what} of {at_line(last.site)} is still at "
        f"work. It ends {duration(last.end - one.begin)} later, and your kernel waits for it in "
        f"the queue: the {duration(one.seconds)} that you took hold both."
    )


def _compiling(run: BenchmarkRun) -> str | None:
    """Return sentences if a timed span includes compiling, else None.

    Also returns None if the answer is right, or if the average used hardly depends on single times.
    """
    compilations = [(one, event) for one in run.timed for event in one.of("compile")]
    if run.right or not compilations or run.robust:
        return None
    one, event = compilations[0]
    _, kernel = one.launched[0]
    return (
        f"{at(event.site)}: the first launch compiles the kernel, and you timed it. Of the "
        f"{duration(one.seconds)} between your readings {duration(event.seconds)} are the "
        f"compiler's; the kernel of this launch took {duration(kernel.seconds)}."
    )


def _hot_cache(run: BenchmarkRun) -> str | None:
    """Return sentences if timed kernels found their arrays in the cache, else None.

    Also returns None if the answer is right.
    """
    kernels = [kernel for one in run.timed for _, kernel in one.launched]
    hot = [kernel for kernel in kernels if kernel.hot]
    if run.right or not hot:
        return None
    speeds, flushed = run.task.speeds, any(e.kind == "flush" for e in run.device.events)
    how = "not flushed before each of them" if flushed else "never flushed"
    return (
        f"{at(hot[0].site)}: {len(hot)} of the {len(kernels)} launches that you timed found their "
        f"arrays in the cache, where the launch before had left them. The kernel then takes "
        f"{duration(speeds.hot_s)}, and {duration(speeds.cold_s)} where they come from memory. The "
        f"cache is {how}."
    )


def _too_few(run: BenchmarkRun) -> str | None:
    """Return sentences if fewer than 7 launches were timed, else None."""
    launches = sum(len(one.launched) for one in run.timed)
    if launches >= FEWEST:
        return None
    return (
        f"You timed {_launches(launches)}. Now and then a launch is disturbed here and takes up to "
        f"{max(run.task.speeds.noise):g} times as long. Among so few, one of these decides too "
        "much."
    )


def _arithmetic(run: BenchmarkRun) -> tuple[str, ...]:
    """Return sentences on a wrong answer from right times: on its average, its work and its unit.

    Returns () if the answer is right.
    """
    if run.right:
        return ()
    if explained := run.explanation:
        average = about_average(explained.average, run.times)
        return tuple(filter(None, (average, explained.work, explained.unit)))
    median = statistics.median(run.times)
    rate = run.task.flops / median / 1e9
    return (
        f"Your times are right: most lie near {duration(median)}. With {run.task.flops:,} "
        f"operations this makes {rate:,.0f} GFLOP/s. Your function returns {figure(run.answer)}, "
        f"{figure(run.answer / rate)} times as much.",
    )


Probe = Callable[[BenchmarkRun], str | None]
NOTHING_MEASURED: tuple[Probe, ...] = (_no_number, _nothing_launched, _no_clock, _nothing_timed)
OBSERVED: tuple[Probe, ...] = (
    _kernel_runs_on,
    _flush_timed,
    _one_start,
    _work_of_before,
    _compiling,
    _hot_cache,
    _too_few,
)
PROBES = (*NOTHING_MEASURED, *OBSERVED)


def _lines(one: Site, other: Site) -> str:
    """Return a phrase on two source lines: "lines 7 and 9", or "line 7" if they are the same."""
    return f"line {one.line}" if one.line == other.line else f"lines {one.line} and {other.line}"


def _launches(number: int) -> str:
    """Return a number with its noun, such as "1 launch" or "3 launches"."""
    return f"{number} launch{'es' * (number != 1)}"
