"""The answers of the lesson's questions on recorded times."""

from __future__ import annotations

from collections.abc import Iterable

from utils.lessons.lesson_18.time_bars import longest_of

# In all functions, times are rows of `remainder.csv`, as `recorded_times()` returns them.
NEARLY = 90  # percent of the time of reduce0


def experiment(times: Iterable) -> str:
    """Return the choice of "18.experiment": how long `without_remainder` takes.

    It is "less than reduce1" if it takes less time than reduce1, "nearly as long as reduce0" if it
    takes more than `NEARLY` percent of the time of reduce0, and else "between the two".
    times: rows of `remainder.csv`, as `reduce_kernels.remainder.recorded_times()` returns them.
    """
    if percent_of(times, "without_remainder", "reduce1") < 100:
        return "less than reduce1"
    if percent_of(times, "without_remainder", "reduce0") > NEARLY:
        return "nearly as long as reduce0"
    return "between the two"


def banks(times: Iterable) -> str:
    """Return the choice of "18.banks": how much longer the kernel with conflicts takes.

    Compared with the kernel without conflicts, it is "as long, within 2 %" below 2 % more time,
    "about a quarter longer" below 100 % more, and else "about three times as long".
    times: as in `experiment`.
    """
    more = percent_of(times, "with_conflicts", "without_conflicts") - 100
    if more < 2:
        return "as long, within 2 %"
    return "about a quarter longer" if more < 100 else "about three times as long"


def divergence(times: Iterable) -> str:
    """Return the choice of "18.divergence": how much longer `masks_up` takes than `masks_down`.

    It is text: "under 5 %", "5 to 20 %" or "over 20 %".
    times: as in `experiment`.
    """
    more = percent_of(times, "masks_up", "masks_down") - 100
    if more < 5:
        return "under 5 %"
    return "5 to 20 %" if more < 20 else "over 20 %"


def leave(times: Iterable) -> str:
    """Return the choice of "18.leave": how much less time `warps_leave` takes than `reduce3`.

    It is text: "about 60 %", "about 40 %" or "about 20 %".
    times: as in `experiment`.
    """
    less = 100 - percent_of(times, "warps_leave", "reduce3")
    return min(("about 60 %", 60), ("about 40 %", 40), ("about 20 %", 20),
               key=lambda choice: abs(choice[1] - less))[0]  # fmt: skip


def percent_of(times: Iterable, kernel: str, other: str) -> float:
    """Return the recorded time of a kernel in percent of that of another, at the greatest length.

    times: as in `experiment`. Raises KeyError for a kernel without a row.
    """
    rows = longest_of(times)
    return 100 * rows[kernel].time_ms / rows[other].time_ms
