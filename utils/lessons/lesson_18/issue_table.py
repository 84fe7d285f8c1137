"""The instructions that a profiler counted of reductions, beside their recorded times."""

from __future__ import annotations

from collections.abc import Iterable

from utils.errors import CourseError
from utils.ladder.shapes import ReduceShape
from utils.lessons.cards import Table, table
from utils.lessons.lesson_18.time_bars import longest_of


def issue_table(slots: Iterable, times: Iterable, *kernels: str) -> Table:
    """Tabulate the executed instructions, the busy schedulers and the recorded time of kernels.

    slots: rows of `issue_slots.csv`. times: rows of `remainder.csv`, of the same device. kernels:
    their names, from top to bottom. Raises CourseError for a kernel without a row. The columns are
    the executed instructions in millions, the percentage of time in which the schedulers issue, and
    the ms.
    """
    slots, timed = list(slots), longest_of(times)
    counted = {row.kernel: row for row in slots if row.device == slots[0].device}
    if unknown := [name for name in kernels if name not in counted]:
        raise CourseError(
            f"{unknown[0]} has no row in issue_slots.csv: choose one of {', '.join(counted)}."
        )
    rows = [
        (
            name,
            f"{counted[name].instructions / 1e6:.1f} million",
            f"{100 * counted[name].busy:.0f} %",
            f"{timed[name].time_ms:.2f} ms",
        )
        for name in kernels
    ]
    head = ("", "executed instructions", "schedulers issue", "recorded time")
    sizes = (ReduceShape(row.elements) for row in (slots[0], timed[kernels[0]]))
    caption = "The profiler's counts for {} elements, recorded times for {}".format(*sizes)
    return table(caption, head, rows)
