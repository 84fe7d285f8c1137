"""What the profiler said of a few kernels at 4096: what was busy, and what warps waited for.

`python -m tools.records.stalls` records it. The profiler takes samples: it looks at the warps of an
SM again and again, and notes for each why it starts nothing now.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from utils.errors import CourseError
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Table, table
from utils.lessons.counting import as_variant
from utils.lessons.lesson import course_device
from utils.measuring import records, rows
from utils.measuring.rows import Row

# What a warp waits for, by the profiler's name of the stall.
WORDS = {
    "long_sb": "a load from global or local memory",
    "short_sb": "a load from shared memory",
    "mio": "a place in the queue to shared memory",
    "lg": "a place in the queue to global memory",
    "barrier": "the other warps, at a barrier",
    "wait": "a fixed number of cycles",
    "math": "a free arithmetic unit",
    "dispatch": "the dispatcher",
    "no_inst": "its next instruction",
    "branch_resolving": "the target of a jump",
    "drain": "its last stores",
    "imc": "a constant",
}
# A warp that could start, and one that does, wait for nothing.
READY = ("selected", "not_selected")
FIGURES = ("Issue Slots Busy", "L1/TEX Cache Throughput", "DRAM Throughput")


@dataclass(frozen=True)
class Figure:
    """A row of the profiler's figures."""

    kernel: str
    figure: str
    unit: str | None
    value: float


@dataclass(frozen=True)
class Stall:
    """A row of the profiler's stalls: the samples of warps that waited for that reason."""

    kernel: str
    reason: str
    samples: int


@dataclass(frozen=True)
class Sampled:
    """A row of the profiler's instructions: its most frequent reason. place: in the kernel."""

    kernel: str
    place: int
    opcode: str
    samples: int
    reason: str | None


def figure(step: Step | Variant, name: str) -> float:
    """A figure of the profiler's, in the unit of its row; CourseError where it has none."""
    kernel = _name(step)
    if (kernel, name) not in _figures():
        raise CourseError(f"The profiler's figures have no '{name}' of {kernel}.")
    return _figures()[kernel, name]


def stalls(step: Step | Variant) -> Mapping[str, float]:
    """For each reason the share of all samples, the most frequent first; ready warps among them."""
    kernel = _name(step)
    found = {reason: count for (name, reason), count in _samples().items() if name == kernel}
    if not found:
        raise CourseError(f"The profiler's samples have nothing of {kernel}.")
    total = sum(found.values())
    ordered = sorted(found.items(), key=lambda item: -item[1])
    return {reason: count / total for reason, count in ordered}


def most_frequent_wait(step: Step | Variant) -> tuple[str, float]:
    """The reason, as the profiler names it, and its share of all samples."""
    return next((reason, share) for reason, share in stalls(step).items() if reason not in READY)


def profiled(*steps: Step | Variant) -> Table:
    """What was busy and what most warps waited for, of each step as it was recorded."""
    rows = []
    for step in steps:
        reason, share = most_frequent_wait(step)
        busy = (f"{figure(step, name):.0f}%" for name in FIGURES)
        rows.append((_name(step).partition(" ")[0], *busy, f"{WORDS[reason]}: {share:.0%}"))
    head = ("", "issue slots", "shared memory and L1", "DRAM", "what warps wait for most often")
    return table(f"Busy, by the profiler, on one {course_device().name} at 4096", head, rows)


def _name(step: Step | Variant) -> str:
    """The variant that was profiled: of a Step the one with its fastest constants."""
    if isinstance(step, Variant):
        return str(step)
    names = {kernel for kernel, _ in _figures()}
    return next((one for one in names if one.partition(" ")[0] == step.name), str(as_variant(step)))


def sampled(step: Step) -> list[Sampled]:
    """The instructions of a step, in order."""
    found = _rows("instructions", Sampled)
    return [row for row in found if row.kernel.partition(" ")[0] == step.name]


@cache
def _figures() -> dict[tuple[str, str], float]:
    return {(row.kernel, row.figure): row.value for row in _rows("figures", Figure)}


@cache
def _samples() -> dict[tuple[str, str], int]:
    return {(row.kernel, row.reason): row.samples for row in _rows("stalls", Stall)}


def _rows(what: str, kind: type[Row]) -> tuple[Row, ...]:
    """A table of the course's own device."""
    path = records.file_of(course_device().name, f"profiler_{what}")
    if not path.exists():
        raise CourseError(
            f"The profiler's {what} of {course_device().name} are not recorded: "
            "python -m tools.records.stalls makes them."
        )
    return rows.read(path, kind)
