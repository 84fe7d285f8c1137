"""The recorded machine code of every GPU step, made by two compilers for three architectures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from utils.compilers.choice import COMPILERS, NUMBA_CUDA, NUMBA_CUDA_MLIR
from utils.errors import CourseError
from utils.ladder.step import Step
from utils.lessons.cards import Fold, table
from utils.lessons.lesson_16 import compiler_times
from utils.measuring import rows
from utils.paths import DATA
from utils.translation import translate

TABLE = DATA / "compiled" / "compilers.csv"
ARCHITECTURES = ("sm_75", "sm_80", "sm_90")
SHOWN = "sm_90"
# Rows of the fold: words, and the opcodes of the hot loop that are counted.
COUNTED = (
    ("multiply-adds", ("FFMA", "FFMA2")),
    ("loads from global memory", ("LDG", "LDGSTS")),
    ("loads from shared memory", ("LDS",)),
    ("integer multiply-adds and moves, `IMAD`", ("IMAD",)),
)


@dataclass(frozen=True)
class CompiledStep:
    """A row of `compilers.csv`: the machine code of a step with its default constants.

    arch: such as "sm_90". compiler, version: "numba-cuda" or "numba-cuda-mlir", and its version.
    toolkit: the version of the CUDA toolkit. step: its name and constants. registers: per thread.
    local_bytes: local memory per thread. spill_bytes: bytes of spilled registers, stored once.
    shared_bytes: static shared memory per block. instructions: those of the whole kernel.
    ffma_share: the fraction of multiply-adds in the hot loop. global_bits, shared_bits: the width
    of the widest load from that memory, 0 without one. over_budget: how the code exceeds the
    budget of the step; None if it keeps it. loop: opcode -> instructions of the hot loop, or of the
    kernel if it has no loop.
    """

    arch: str
    compiler: str
    version: str
    toolkit: str
    step: str
    registers: int
    local_bytes: int
    spill_bytes: int
    shared_bytes: int
    instructions: int
    ffma_share: float
    global_bits: int
    shared_bits: int
    over_budget: str | None
    loop: Mapping[str, int]


def compiled_steps() -> tuple[CompiledStep, ...]:
    """Return all rows of the record, in the file's order."""
    return rows.read(TABLE, CompiledStep)


def pair(step: str, arch: str = SHOWN) -> tuple[CompiledStep, ...]:
    """Return the rows of a step, one per compiler, in the order of `COMPILERS`.

    step: its name. Raises CourseError if the record does not have it for the architecture, and
    KeyError if it has it for one compiler only.
    """
    found = {
        row.compiler: row
        for row in compiled_steps()
        if row.arch == arch and row.step.partition(" ")[0] == step
    }
    if not found:
        raise CourseError(f"{step} is not recorded for {arch}: python -m tools.records.compilers.")
    return tuple(found[name] for name in COMPILERS)


def side_by_side(step: Step) -> Fold:
    """Return a fold with a table of a step's machine code for sm_90, a column per compiler.

    The rows are counts from the record, such as the registers per thread and the instructions in
    the hot loop. A note has the recorded times. Raises CourseError if the step is not recorded.
    """
    both = pair(step.name)
    lines = [
        (translate("registers per thread"), *(row.registers for row in both)),
        (translate("instructions of the kernel"), *(row.instructions for row in both)),
        (translate("instructions in the hot loop"), *(sum(row.loop.values()) for row in both)),
    ]
    lines += [
        (translate(words), *(sum(row.loop.get(name, 0) for name in names) for row in both))
        for words, names in COUNTED
    ]
    lines.append((translate("share of multiply-adds"), *(f"{row.ffma_share:.1%}" for row in both)))
    note = translate(
        "numba-cuda-mlir is the successor of numba-cuda, and `COURSE_COMPILER` chooses one of "
        "them. `gpu_xray/COMPILERS.md` lists the registers and the times of all steps."
    )
    shown = table(
        translate("`{step}` for {arch}", step=step.name, arch=SHOWN),
        ("", *(f"{row.compiler} {row.version}" for row in both)),
        lines,
        " ".join([*_times_of(step), note]),
    )
    return Fold(translate("The same kernel, two compilers"), shown)


def _times_of(step: Step) -> Iterator[str]:
    """Yield a sentence per device and size at which a step is recorded with both compilers.

    A sentence has the ms with each compiler. Without such records nothing is yielded.
    """
    for both in compiler_times.times():
        if both.first.step.partition(" ")[0] == step.name:
            yield translate(
                "On an {device}, `{step}` at {size} took {first:.3g} ms with numba-cuda and "
                "{second:.3g} ms with numba-cuda-mlir.",
                device=both.first.device, step=step.name, size=both.first.size,
                first=both.first.time_ms, second=both.second.time_ms,
            )  # fmt: skip


def page_table() -> str:
    """Return a Markdown table of all recorded steps, with a row per step and compiler.

    The columns are the step, the compiler, the registers per thread for each architecture, the most
    bytes spilled for any of them, and the sentences on a budget that is exceeded. The registers are
    left empty for an architecture without a record.
    """
    head = ["step", "compiler", *(f"registers, {arch}" for arch in ARCHITECTURES)]
    lines = [
        f"| {' | '.join([*head, 'bytes spilled', 'over budget'])} |",
        f"| --- | --- |{' ---: |' * (len(ARCHITECTURES) + 1)} --- |",
    ]
    by_place = {(row.step, row.compiler, row.arch): row for row in compiled_steps()}
    for step in dict.fromkeys(row.step for row in compiled_steps()):
        for compiler in (NUMBA_CUDA.name, NUMBA_CUDA_MLIR.name):
            found = [by_place.get((step, compiler, arch)) for arch in ARCHITECTURES]
            known = [row for row in found if row]
            cells = [f"`{step}`", compiler, *(str(row.registers) if row else "" for row in found)]
            cells.append(str(max((row.spill_bytes for row in known), default=0)))
            cells.append(" ".join(row.over_budget for row in known if row.over_budget))
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
