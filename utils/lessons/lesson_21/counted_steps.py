"""What each recorded product asks of the device, counted once on the virtual GPU, kept as data.

`python -m tools.records.counted_steps` makes the table: one block of each step is run, and its
counts stand for all blocks. That takes a minute, which a lesson need not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from utils.errors import CourseError
from utils.ladder.ladder import Ladder
from utils.ladder.step import Step, Variant
from utils.lessons.lesson import course_device
from utils.measuring import roofline, rows
from utils.measuring.roofline import Ceilings, Counts
from utils.paths import DATA

FILE = DATA / "counted" / "steps.csv"
DIGITS = 9


@dataclass(frozen=True)
class Counted:
    """A row of the table."""

    kernel: str
    shape: str
    counts: Counts


def counts_of(step: Step | Variant | str) -> Counts:
    """What one launch asks for; of a step that one which is recorded as the fastest.

    CourseError for what is not in the table.
    """
    name = step if isinstance(step, str) else str(step) if isinstance(step, Variant) else step.name
    for kernel, counts in recorded_counts().items():
        if name in (kernel, kernel.partition(" ")[0]):
            return counts
    raise CourseError(
        f"{name} is not among the counted steps: python -m tools.records.counted_steps counts "
        "those of the ladders."
    )


def recorded_counts() -> dict[str, Counts]:
    """All of them, by kernel with its constants, in the order of the ladders."""
    return {row.kernel: row.counts for row in rows.read(FILE, Counted)}


def ceilings() -> Ceilings:
    """What the course's own device reached in the micro-benchmarks."""
    return _ceilings_of(course_device())


_ceilings_of = cache(roofline.gpu_ceilings)


def recorded_of(ladder: Ladder, size: str) -> dict[str, float]:
    """The recorded milliseconds of each counted step, by its kernel, at a size."""
    found = roofline.recorded(ladder, ladder.parse(size), course_device().name)
    times = {str(variant): record.time_ms for variant, record in found}
    return {kernel: ms for kernel, ms in times.items() if kernel in recorded_counts()}
