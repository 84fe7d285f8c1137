"""What a benchmark of the reader's has measured, and which of its faults explains its answer.

The model of the device remembers what was done and which readings of its clock were subtracted. So
most faults are seen, and not guessed. What is left is arithmetic: an answer is compared with what
other ways to average, to count the work and to write the unit give, exactly.
"""

from __future__ import annotations

import itertools
import math
import numbers
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from labs.host import Examined
from labs.words import at, at_line, counted
from utils.measuring.queue_model import Event, ModelDevice, Reading, Span, Speeds
from utils.virtual_gpu import Site

WITHIN = 0.02
FEWEST = 7
MEDIAN = "median"
# An average that a single time does not change much.
ROBUST = (MEDIAN, "least", "last")


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


TASKS = (
    Task(Speeds(0.310, 8e-6, 2.0e-3, 1.2e-3, 1.5e-3), 1056, 1888, 608),
    Task(Speeds(0.095, 20e-6, 9.0e-3, 7.5e-3, 4.0e-3), 2048, 1024, 512),
    Task(Speeds(0.740, 5e-6, 0.8e-3, 0.3e-3, 0.9e-3), 512, 640, 768),
)


@dataclass(frozen=True)
class Timed:
    """What lies between two readings of the clock that were subtracted.

    launched: each launch with its kernel. inside: all that the host did. before: work of the device
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


@dataclass(frozen=True, eq=False)
class Seen:
    """One call: the task, the device after it, and the answer."""

    task: Task
    device: ModelDevice
    answer: object

    @cached_property
    def timed(self) -> list[Timed]:
        """What was timed; of several kinds of differences those that explain the answer."""
        kinds = [[_timed(self.device, one.begin, one.end) for one in kind] for kind in self._kinds]
        kinds = [[one for one in kind if one.launched] for kind in kinds]
        kinds = [kind for kind in kinds if kind]
        explaining = [kind for kind in kinds if _explanations(self.task, self.answer, kind)]
        return max(explaining or kinds, key=len, default=[])

    @cached_property
    def explanation(self) -> Explanation | None:
        """How the answer follows from the times, if one of the known ways does it."""
        return min(
            _explanations(self.task, self.answer, self.timed),
            key=lambda one: one.deviations,
            default=None,
        )

    @property
    def launches(self) -> int:
        """How many of the launches were timed."""
        return sum(len(one.launched) for one in self.timed)

    @property
    def _kinds(self) -> list[list[Span]]:
        """Differences of readings by the line that made them; else neighbouring readings."""
        by_line: dict[int, list[Span]] = {}
        for span in self.device.spans:
            by_line.setdefault(span.site.line, []).append(span)
        if by_line:
            return list(by_line.values())
        readings = self.device.readings
        return [[end - begin for begin, end in itertools.pairwise(readings)]]


@dataclass(frozen=True)
class Explanation:
    """How an answer follows from times: which average, what was counted, and in which unit.

    average: its name. work, unit: a sentence on what is wrong; "" where nothing is.
    """

    average: str
    work: str
    unit: str

    @property
    def deviations(self) -> int:
        return (self.average != MEDIAN) + bool(self.work) + bool(self.unit)


def examine(benchmark: Callable) -> Examined:
    """Call it for each task; the cause of the first wrong answer."""
    facts = []
    for task in TASKS:
        device = ModelDevice(task.speeds)
        seen = Seen(task, device, benchmark(device, task.m, task.n, task.k))
        for probe in PROBES:
            if cause := probe(seen):
                return Examined(cause)
        facts.append(f"{seen.answer:,.0f} GFLOP/s, and {task.gflops:,.0f} are right")
    return Examined(None, (f"On the three devices: {'; '.join(facts)}.", *_remarks(seen)))


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


def _right(seen: Seen) -> bool:
    return abs(seen.answer / seen.task.gflops - 1) <= WITHIN


def _kernel_runs_on(seen: Seen) -> str | None:
    """The clock is read before the kernel has ended."""
    one = next((one for one in seen.timed if one.running), None)
    if _right(seen) or one is None:
        return None
    last, still = one.running[-1], ""
    if len(one.launched) > 1:
        still = f"{len(one.running)} of the {len(one.launched)} kernels are in the queue, and "
    compiling = ", compiling included" if one.of("compile") else ""
    return (
        f"{at(one.end.site)}: the clock is read too early: {still}the last kernel ends "
        f"{_time(last.end - one.end)} later. The {_time(one.seconds)} are what "
        f"{_launches(len(one.launched))} took the host{compiling}. {_where_it_waits(seen, one)}"
    )


def _where_it_waits(seen: Seen, one: Timed) -> str:
    """What the benchmark does about the kernels of a time that was read too early."""
    before = [event for event in one.of("wait") if event.end <= one.launched[-1][0].begin]
    if before:
        return f"You wait in {at_line(before[-1].site)}, before the launch."
    host = [event for event in seen.device.events if event.kind not in ("kernel", "clear")]
    behind = next((event for event in host if event.begin >= one.end), None)
    if behind and behind.kind == "wait":
        return f"You wait in {at_line(behind.site)}, when the clock has been read."
    if any(event.kind == "wait" for event in host):
        return "Nobody waits between the launch and this reading."
    return "`synchronize()` is never called."


def _work_of_before(seen: Seen) -> str | None:
    """The clock starts while something else still runs."""
    late = [one for one in seen.timed if one.before]
    if _right(seen) or not late or (_robust(seen) and 2 * len(late) < len(seen.timed)):
        return None
    one, last = late[-1], late[-1].before[-1]
    what = "the flush" if last.kind == "clear" else "an earlier launch"
    return (
        f"{at(one.begin.site)}: the clock starts while {what} of {at_line(last.site)} is still at "
        f"work. It ends {_time(last.end - one.begin)} later, and your kernel waits for it in the "
        f"queue: the {_time(one.seconds)} that you took hold both."
    )


def _compiling(seen: Seen) -> str | None:
    found = [(one, event) for one in seen.timed for event in one.of("compile")]
    if _right(seen) or not found or _robust(seen):
        return None
    (one, event), *_ = found
    kernel = one.launched[0][1]
    return (
        f"{at(event.site)}: the first launch compiles the kernel, and you timed it. Of the "
        f"{_time(one.seconds)} between your readings {_time(event.seconds)} are the compiler's; "
        f"the kernel of this launch took {_time(kernel.seconds)}."
    )


def _robust(seen: Seen) -> bool:
    """Whether one time among them changes next to nothing of the answer."""
    average = seen.explanation.average if seen.explanation else None
    return len(seen.timed) > 2 and average in ROBUST


def _flush_timed(seen: Seen) -> str | None:
    if _right(seen):
        return None
    for one in seen.timed:
        if flushes := one.of("flush"):
            return (
                f"{at(flushes[0].site)}: the flush lies between your two readings of the clock, "
                f"and it takes {_time(seen.task.speeds.flush_s)}. The kernel alone takes "
                f"{_time(seen.task.speeds.cold_s)}."
            )
    return None


def _hot_cache(seen: Seen) -> str | None:
    if _right(seen):
        return None
    kernels = [kernel for one in seen.timed for _, kernel in one.launched]
    hot = [kernel for kernel in kernels if kernel.hot]
    if not hot:
        return None
    flushed = any(event.kind == "flush" for event in seen.device.events)
    how = "not flushed before each of them" if flushed else "never flushed"
    return (
        f"{at(hot[0].site)}: {len(hot)} of the {len(kernels)} launches that you timed found their "
        f"arrays in the cache, where the launch before had left them. The kernel then takes "
        f"{_time(seen.task.speeds.hot_s)}, and {_time(seen.task.speeds.cold_s)} where they come "
        f"from memory. The cache is {how}."
    )


def _too_few(seen: Seen) -> str | None:
    if seen.launches >= FEWEST:
        return None
    return (
        f"You timed {_launches(seen.launches)}. Now and then a launch is disturbed here and takes "
        f"up to {max(seen.task.speeds.noise):g} times as long: time at least {FEWEST}, so that one "
        "of these does not decide."
    )


def _average_work_unit(seen: Seen) -> str | None:
    """The times are right, and the answer is not."""
    if _right(seen):
        return None
    task, times = seen.task, [one.seconds / len(one.launched) for one in seen.timed]
    told = seen.explanation
    if told is None:
        rate = task.flops / statistics.median(times) / 1e9
        return (
            f"Your times are right: their median is {_time(statistics.median(times))}. With "
            f"{task.flops:,} operations this makes {rate:,.0f} GFLOP/s. Your function returns "
            f"{_figure(seen.answer)}, {_figure(seen.answer / rate)} times as much."
        )
    words = [_average_words(told.average, times)] if told.average != MEDIAN else []
    return " ".join([*words, *filter(None, (told.work, told.unit))])


def _average_words(average: str, times: Sequence[float]) -> str:
    off = AVERAGES[average](times) / statistics.median(times)
    many = len(times)
    return {
        "mean": f"You take the mean of {many} times. A few launches were disturbed, one of them "
        f"took {_time(max(times))}, and the mean is {off:.2f} times the median, "
        f"{_time(statistics.median(times))}.",
        "least": f"You take the least of {many} times, {_time(min(times))}: one launch that met a "
        f"higher clock. The median is {_time(statistics.median(times))}.",
        "most": f"You take the greatest of {many} times, {_time(max(times))}: the launch that was "
        f"disturbed most. The median is {_time(statistics.median(times))}.",
        "sum": f"You divide by the sum of all {many} times, {_time(sum(times))}, but the work of "
        "one product.",
        "first": f"You take the first of {many} times alone, {_time(times[0])}. The median is "
        f"{_time(statistics.median(times))}.",
        "last": f"You take the last of {many} times alone, {_time(times[-1])}. The median is "
        f"{_time(statistics.median(times))}.",
    }[average]


PROBES: tuple[Callable[[Seen], str | None], ...] = (
    _no_number,
    _nothing_launched,
    _no_clock,
    _nothing_timed,
    _kernel_runs_on,
    _work_of_before,
    _compiling,
    _flush_timed,
    _hot_cache,
    _too_few,
    _average_work_unit,
)

AVERAGES: dict[str, Callable[[Sequence[float]], float]] = {
    MEDIAN: statistics.median,
    "mean": statistics.fmean,
    "least": min,
    "most": max,
    "sum": sum,
    "first": lambda times: times[0],
    "last": lambda times: times[-1],
}


def _explanations(task: Task, answer: object, timed: Sequence[Timed]) -> list[Explanation]:
    """All ways to come from these times to the answer."""
    if not timed or not isinstance(answer, numbers.Real) or not math.isfinite(answer):
        return []
    times = [one.seconds / len(one.launched) for one in timed]
    found = []
    for name, average in AVERAGES.items():
        seconds = average(times)
        for value, work, unit in _answers(task, seconds):
            if math.isclose(answer, value, rel_tol=1e-6):
                found.append(Explanation(name, work, unit))
    return found


def _answers(task: Task, seconds: float) -> Iterator[tuple[float, str, str]]:
    """What a benchmark may return for this time, and what is wrong with it."""
    for (work, about_work), (unit, about_unit) in itertools.product(_works(task), UNITS.items()):
        # Two numbers that are both far off fit by chance.
        if not (about_work and about_unit) or (work == task.flops / 2 and unit == 2**30):
            yield work / seconds / unit, about_work, about_unit
            yield -work / seconds / unit, about_work, f"{NEGATIVE} {about_unit}".strip()
    for per_second, word in ((1, "seconds"), (1e3, "milliseconds"), (1e6, "microseconds")):
        told = f"You return the time, {_figure(seconds * per_second)} {word}, and not the rate."
        yield seconds * per_second, "", told
    for unit in (1, 1e9, 2**30):
        told = "You return the operations of one product: nothing is divided by the time."
        yield task.flops / unit, "", told
        told = "Your rate stands on its head: the time is divided by the operations."
        yield seconds / task.flops * unit, "", told
        yield seconds / (task.flops / unit), "", told
        told = "You multiply the operations with the time. A rate is work divided by time."
        yield task.flops * seconds / unit, "", told


def _works(task: Task) -> Iterator[tuple[int, str]]:
    """What may be counted as the work of one product, and what is wrong with it."""
    m, n, k = task.m, task.n, task.k
    yield task.flops, ""
    yield (
        m * n * k,
        (
            f"Your rate counts {m * n * k:,} operations, one for each multiply-add. A multiply-add "
            f"is a multiplication and an addition: {task.flops:,}."
        ),
    )
    yield (
        4 * m * n * k,
        (
            f"Your rate counts {4 * m * n * k:,} operations, four for each multiply-add. A "
            f"multiply-add is a multiplication and an addition: {task.flops:,}."
        ),
    )
    sizes = {"m": m, "n": n, "k": k}
    others = {
        f"{times}{'·'.join(names)}": factor * math.prod(sizes[name] for name in names)
        for times, factor in (("2·", 2), ("", 1))
        for many in (1, 2, 3)
        for names in itertools.combinations_with_replacement("mnk", many)
        if names != ("m", "n", "k")
    }
    others["2·(m + n + k)"] = 2 * (m + n + k)
    others["2 + m·n·k"] = 2 + m * n * k
    for words, work in others.items():
        yield (
            work,
            (
                f"Your rate counts {work:,} operations, {words}. The product has m·n·k = "
                f"{m}·{n}·{k} multiply-adds, which are {task.flops:,} operations."
            ),
        )


NEGATIVE = "Your rate is negative: the later reading of the clock is taken from the earlier one."
_POWER = (
    "Your rate is {how}: the clock gives seconds, and a GFLOP is 10^9 operations. Look at each "
    "power of ten."
)
UNITS: dict[float, str] = {
    1e9: "",
    2**30: (
        "You divide by 2^30 = 1,073,741,824. A GFLOP is 10^9 operations: your rate is too small by "
        "the factor 1.074."
    ),
    1000 * 2**20: "One of your factors is 2^20 = 1,048,576. A GFLOP is 10^9 operations.",
    10**6 * 2**10: "One of your factors is 2^10 = 1024. A GFLOP is 10^9 operations.",
    2**20: "You divide by 2^20, and a GFLOP is 10^9 operations.",
    **{
        1e9 / 10.0**power: _POWER.format(
            how=f"{10 ** abs(power):,} times too {'large' if power > 0 else 'small'}"
        )
        for power in (-9, -6, -3, -2, -1, 1, 2, 3, 4, 6, 9, 12)
    },
    **{
        2**30 / 10.0**power: (
            f"You divide by 2^30 in place of 10^9, and your rate is {10**power:,} times too large "
            "besides: the clock gives seconds."
        )
        for power in (3, 6, 9)
    },
}


def _timed(device: ModelDevice, begin: Reading, end: Reading) -> Timed:
    """What the device's events say of the time between two readings."""
    if end < begin:
        begin, end = end, begin
    works = [event for event in device.events if event.kind in ("kernel", "clear")]
    asked = [event for event in device.events if event.kind in ("launch", "flush")]
    pairs = list(zip(asked, works, strict=True))  # each work follows what has asked for it
    return Timed(
        begin,
        end,
        tuple(
            (ask, work)
            for ask, work in pairs
            if work.kind == "kernel" and begin <= ask.begin and ask.end <= end
        ),
        tuple(
            event
            for event in device.events
            if event.kind not in ("kernel", "clear") and begin <= event.begin < end
        ),
        tuple(work for ask, work in pairs if ask.end <= begin < work.end),
    )


def _lines(one: Site, other: Site) -> str:
    return f"line {one.line}" if one.line == other.line else f"lines {one.line} and {other.line}"


def _launches(number: int) -> str:
    return f"{number} launch{'es' * (number != 1)}"


def _time(seconds: float) -> str:
    """With a unit that fits: 310 ms, 8 us."""
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{1e3 * seconds:.3g} ms" if seconds >= 1e-4 else f"{1e6 * seconds:.3g} us"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
