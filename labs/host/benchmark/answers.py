"""Explain a benchmark's answer: which average, which work and which unit give this number."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from labs.host.benchmark.timed_spans import BenchmarkTask
from utils.measuring.durations import duration

MEDIAN = "median"
AVERAGES: dict[str, Callable[[Sequence[float]], float]] = {
    MEDIAN: statistics.median,
    "mean": statistics.fmean,
    "least": min,
    "greatest": max,
    "sum": sum,
    "first": lambda times: times[0],
    "last": lambda times: times[-1],
}
SAME = 1e-6  # the relative tolerance for the same times in another order of operations


@dataclass(frozen=True)
class Explanation:
    """How a rate follows from measured times: rate = work / average of the times / unit.

    average: a key of `AVERAGES`. work, unit: a sentence on what is wrong with the number of
    operations, or with the unit; "" if it is right.
    """

    average: str
    work: str
    unit: str

    @property
    def deviations(self) -> int:
        """The number of faults among average, work and unit, from 0 to 3."""
        return (self.average != MEDIAN) + bool(self.work) + bool(self.unit)


def explanation(task: BenchmarkTask, answer: float, times: Sequence[float]) -> Explanation | None:
    """Return the explanation of an answer with the fewest faults, or None if none is found.

    answer: the rate that the reader's function returned. times: the seconds per launch of each
    measurement.
    """
    explanations = [
        Explanation(name, work, unit)
        for name, average in AVERAGES.items()
        for value, work, unit in _answers(task, average(times))
        if math.isclose(answer, value, rel_tol=SAME)
    ]
    return min(explanations, key=lambda one: one.deviations, default=None)


def about_average(average: str, times: Sequence[float]) -> str:
    """Return sentences on why this average of the times is a wrong choice, or "" for the median.

    average: a key of `AVERAGES`. times: the measured times in seconds.
    """
    if average == MEDIAN:
        return ""
    many, median = len(times), statistics.median(times)
    value = AVERAGES[average](times)
    if average == "mean":
        return (
            f"You take the mean of {many} times. Most lie near {duration(median)}. A few launches "
            f"were disturbed, one of them took {duration(max(times))}, and so the mean is "
            f"{duration(value)}."
        )
    if average == "sum":
        return (
            f"You divide by the sum of all {many} times, {duration(value)}, but the work of one "
            "product."
        )
    chosen = f"You take the {average} of {many} times"
    end = f"Most lie near {duration(median)}."
    return {
        "least": f"{chosen}, {duration(value)}: one launch at a higher frequency. {end}",
        "greatest": f"{chosen}, {duration(value)}: the launch that was disturbed most. {end}",
        "first": f"{chosen} alone, {duration(value)}. {end}",
        "last": f"{chosen} alone, {duration(value)}. {end}",
    }[average]


def figure(value: float) -> str:
    """Return a number as text: from 1000 on with commas and without a fraction, such as "12,346".

    A smaller number has three significant digits, such as "12.3" or "0.0123".
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _answers(task: BenchmarkTask, seconds: float) -> Iterator[tuple[float, str, str]]:
    """Yield answers that a faulty or right benchmark may return, with sentences on the faults.

    An item is (answer, sentence on the work, sentence on the unit). A sentence is "" if the work,
    or the unit, is right. seconds: the time of one launch.
    """
    for (work, about_work), (unit, about_unit) in itertools.product(_works(task), UNITS.items()):
        # Two numbers that are both far off fit by chance.
        if not (about_work and about_unit) or (work == task.flops / 2 and unit == 2**30):
            yield work / seconds / unit, about_work, about_unit
            yield -work / seconds / unit, about_work, f"{NEGATIVE} {about_unit}".strip()
    for per_second, word in ((1, "seconds"), (1e3, "milliseconds"), (1e6, "microseconds")):
        message = f"You return the time, {figure(seconds * per_second)} {word}, and not the rate."
        yield seconds * per_second, "", message
    for unit in (1, 1e9, 2**30):
        yield task.flops / unit, "", UNDIVIDED
        yield seconds / task.flops * unit, "", UPSIDE_DOWN
        yield seconds / (task.flops / unit), "", UPSIDE_DOWN
        yield task.flops * seconds / unit, "", MULTIPLIED


def _works(task: BenchmarkTask) -> Iterator[tuple[int, str]]:
    """Yield (number, sentence): numbers of operations that a reader may count for one product.

    The sentence says what is wrong with the number; it is "" for the right one, which is the first.
    """
    sizes = {"m": task.m, "n": task.n, "k": task.k}
    multiply_adds = task.flops // 2
    yield task.flops, ""
    for each, words in ((1, "one"), (4, "four")):
        yield (
            each * multiply_adds,
            f"Your rate counts {each * multiply_adds:,} operations, {words} for each "
            "multiply-add. A multiply-add is a multiplication and an addition: "
            f"{task.flops:,}.",
        )
    others = {
        f"{words}{'·'.join(names)}": factor * math.prod(sizes[name] for name in names)
        for words, factor in (("2·", 2), ("", 1))
        for many in (1, 2, 3)
        for names in itertools.combinations_with_replacement("mnk", many)
        if names != ("m", "n", "k")
    }
    others["2·(m + n + k)"] = 2 * sum(sizes.values())
    for words, work in others.items():
        yield (
            work,
            f"Your rate counts {work:,} operations, {words}. The product has m·n·k = "
            f"{task.m}·{task.n}·{task.k} multiply-adds, which are {task.flops:,} operations.",
        )


NEGATIVE = "Your rate is negative: the later reading of the clock is taken from the earlier one."
UNDIVIDED = "You return the operations of one product: nothing is divided by the time."
UPSIDE_DOWN = "Your rate stands on its head: the time is divided by the operations."
MULTIPLIED = "You multiply the operations with the time. A rate is work divided by time."
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
