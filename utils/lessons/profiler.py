"""Profiler records of a few kernels at 4096: how busy units are, and the reasons why warps wait.

`python -m tools.records.stalls` makes the records. The profiler samples: again and again it looks
at the warps of an SM and notes for each warp why it issues no instruction now.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from utils.errors import CourseError
from utils.ladder.ladder import is_of_a_ladder
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Table, table
from utils.lessons.counting import as_step, as_variant
from utils.lessons.lesson import course_device
from utils.measuring import records, rows
from utils.measuring.rows import Row

# The profiler's name of a stall -> what the warp waits for.
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
# The warp issues an instruction, or could issue one; it waits for nothing.
READY = ("selected", "not_selected")
FIGURES = ("Issue Slots Busy", "L1/TEX Cache Throughput", "DRAM Throughput")


@dataclass(frozen=True)
class ProfilerFigure:
    """A row of the recorded figures: one figure of one kernel.

    kernel: the step with its constants. figure: the profiler's name, such as "Issue Slots Busy".
    unit: as the profiler writes it, such as "%" or "inst/cycle", None for a plain number. value:
    the figure in this unit.
    """

    kernel: str
    figure: str
    unit: str | None
    value: float


@dataclass(frozen=True)
class Stall:
    """The number of profiler samples in which a warp of a kernel was in one state.

    reason: the profiler's name of the state: a key of `WORDS` if the warp waited, or one of `READY`
    if it did not wait.
    """

    kernel: str
    reason: str
    samples: int


@dataclass(frozen=True)
class SampledInstruction:
    """A row of the recorded instructions: the number of samples taken at an instruction.

    kernel: the step with its constants. place: the index of the instruction in the kernel. opcode:
    such as "FFMA". reason: the most frequent state of warps there, a key of `WORDS` for a stall, or
    one of `READY`. Instructions without samples have no row.
    """

    kernel: str
    place: int
    opcode: str
    samples: int
    reason: str


def figure(step: Step | Variant, name: str) -> float:
    """Return a figure that the profiler recorded for a step, in the unit of its row.

    name: the profiler's name of the figure, such as "Issue Slots Busy". Raises CourseError if the
    step has no such figure.
    """
    kernel = _name(step)
    if (kernel, name) not in _figures():
        raise CourseError(f"The profiler's figures have no '{name}' for {kernel}.")
    return _figures()[kernel, name]


def stalls(step: Step | Variant) -> Mapping[str, float]:
    """Return stall reason -> fraction of all samples of a step, the most frequent reason first.

    A reason is a key of `WORDS` or one of `READY`. Raises CourseError if the step was not sampled.
    """
    kernel = _name(step)
    samples = {reason: count for (name, reason), count in _samples().items() if name == kernel}
    if not samples:
        raise CourseError(f"The profiler took no samples of {kernel}: choose a profiled kernel.")
    total = sum(samples.values())
    ordered = sorted(samples.items(), key=lambda item: -item[1])
    return {reason: count / total for reason, count in ordered}


def most_frequent_wait(step: Step | Variant) -> tuple[str, float]:
    """Return (reason, fraction of all samples) of the most frequent stall of a step.

    The reason is a key of `WORDS`; those of `READY` do not count as stalls. Raises CourseError if
    the step was not sampled.
    """
    return next((reason, share) for reason, share in stalls(step).items() if reason not in READY)


def profiled(*steps: Step | Variant) -> Table:
    """Return a table of what the profiler recorded, one row per step.

    The columns are the percentages of the time of a product at 4096 for which the profiler saw busy
    issue slots, of shared memory with L1 and of DRAM, and what warps wait for most often, with its
    share of the samples. The reader's own kernel was not profiled: its cells are "–". Raises
    CourseError for a step of the course that was not profiled.
    """
    rows = []
    for step in steps:
        if not is_of_a_ladder(as_step(step)):
            rows.append((as_step(step).name, *["–"] * 4))
            continue
        reason, share = most_frequent_wait(step)
        busy = (f"{figure(step, name):.0f}%" for name in FIGURES)
        rows.append((_name(step).partition(" ")[0], *busy, f"{WORDS[reason]}: {share:.0%}"))
    head = ("", "issue slots", "shared memory and L1", "DRAM", "what warps wait for most often")
    return table(f"Busy, by the profiler, on one {course_device().name} at 4096", head, rows)


def _name(step: Step | Variant) -> str:
    """Return the name of a variant with its constants; for a Step that of its profiled variant.

    If the Step was not profiled, return the name of its variant with default constants.
    """
    if not isinstance(step, Step):
        return str(as_variant(step))
    kernels = {kernel for kernel, _ in _figures()}
    names = (kernel for kernel in kernels if kernel.partition(" ")[0] == step.name)
    return next(names, str(as_variant(step)))


def sampled(step: Step) -> list[SampledInstruction]:
    """Return the sampled instructions of a step, in the order of the machine code.

    The list is empty if the step was not sampled.
    """
    name, instructions = as_step(step).name, _rows("instructions", SampledInstruction)
    return [row for row in instructions if row.kernel.partition(" ")[0] == name]


@cache
def _figures() -> dict[tuple[str, str], float]:
    """Return (kernel, figure) -> value; the result is cached."""
    return {(row.kernel, row.figure): row.value for row in _rows("figures", ProfilerFigure)}


@cache
def _samples() -> dict[tuple[str, str], int]:
    """Return (kernel, reason) -> number of samples; the result is cached."""
    return {(row.kernel, row.reason): row.samples for row in _rows("stalls", Stall)}


def _rows(what: str, kind: type[Row]) -> tuple[Row, ...]:
    """Return all rows of one of the profiler's tables for the reference device.

    what: "figures", "stalls" or "instructions". Raises CourseError if the file is missing.
    """
    path = records.file_of(course_device().name, f"profiler_{what}")
    if not path.exists():
        raise CourseError(
            f"The profiler's {what} of {course_device().name} are not recorded: "
            "python -m tools.records.stalls makes them."
        )
    return rows.read(path, kind)
