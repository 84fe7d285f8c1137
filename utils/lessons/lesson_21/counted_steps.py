"""Counts of each recorded product, made once on the virtual GPU and kept as data.

`python -m tools.records.counted_steps` makes the table in a minute. It runs one block of each step
and assumes that all blocks have the same counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from utils.errors import CourseError
from utils.ladder.ladder import Ladder
from utils.ladder.step import Step, Variant
from utils.lessons.counting import as_variant, name_of
from utils.lessons.lesson import course_device
from utils.lessons.own_kernels import is_mine
from utils.measuring import roofline, rows
from utils.measuring.roofline import Ceilings, LaunchCounts
from utils.paths import DATA

FILE = DATA / "counted" / "steps.csv"
DIGITS = 9
SIZE = "4096"


@dataclass(frozen=True)
class CountedStep:
    """A row of the table: a kernel, its problem, and the counts of one launch.

    `kernel` is a name with its constants, and `shape` text such as "4096×4096×4096".
    """

    kernel: str
    shape: str
    counts: LaunchCounts


def counts_of(step: Step | Variant | str) -> LaunchCounts:
    """Return the counts of one launch of a step in the table.

    The launch is that of a product of 4096×4096 matrices. The table has one variant per step, the
    one that was recorded as fastest; a step or a name without constants means this one. The
    reader's own kernel for a product is counted here. Raise CourseError for any other kernel that
    is not in the table.
    """
    if not isinstance(step, str | Step) and is_mine(as_variant(step)):
        variant = as_variant(step)
        hot = roofline.hot_loop_of(variant, course_device().arch)
        return roofline.counted(variant, variant.step.task.parse(SIZE), hot)
    name = step if isinstance(step, str) else name_of(step)
    for kernel, counts in recorded_counts().items():
        if name in (kernel, kernel.partition(" ")[0]):
            return counts
    raise CourseError(
        f"{name} is not among the counted steps: python -m tools.records.counted_steps counts "
        "those of the ladders."
    )


def recorded_counts() -> dict[str, LaunchCounts]:
    """Return kernel -> counts of one launch for 4096×4096 matrices, in the order of the ladder.

    A kernel is a step's name with its constants, those recorded as fastest.
    """
    return {row.kernel: row.counts for row in rows.read(FILE, CountedStep)}


def ceilings() -> Ceilings:
    """Return the rates that the course's own device reached in the micro-benchmarks; cached."""
    return _ceilings_of(course_device())


_ceilings_of = cache(roofline.gpu_ceilings)


def recorded_of(ladder: Ladder, size: str) -> dict[str, float]:
    """Return kernel's name with its fastest constants -> recorded milliseconds at a size.

    Only kernels in the table of counts are included.
    """
    pairs = roofline.recorded(ladder, ladder.parse(size), course_device().name)
    times = {str(variant): record.time_ms for variant, record in pairs}
    return {kernel: ms for kernel, ms in times.items() if kernel in recorded_counts()}
