"""Hot loops that were compiled for the records: instruction counts, and listings of some loops.

`python -m tools.records.compiled_loops` makes both tables, so that a lesson can show the loops of a
whole ladder without a compiler and without compiling for a minute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from gpu_xray import XRay, widths
from gpu_xray.loops import FFMA
from gpu_xray.sass import Instruction
from utils.errors import CourseError
from utils.measuring import rows
from utils.measuring.roofline import HotLoopCounts
from utils.paths import DATA

ARCH = "sm_90"
COUNTS = DATA / "compiled" / "loop_counts.csv"
LISTINGS = DATA / "compiled" / "listings.csv"
OPERANDS = 3  # registers that one multiply-add reads


@dataclass(frozen=True)
class CompiledLoop:
    """The hot loop of a kernel, and the resources of a thread.

    registers, local_bytes, spill_bytes: per thread. mix: the instructions of one iteration by name,
    with the width in bits for loads and stores, such as {"FFMA": 64, "LDS.128": 4}. waits: cycles
    per iteration that register bank conflicts cost in the model of `gpu_xray.register_banks`. kept:
    operands of multiply-adds that are marked for reuse.
    """

    registers: int
    local_bytes: int
    spill_bytes: int
    waits: float
    kept: int
    mix: Mapping[str, int]

    @property
    def instructions(self) -> int:
        return sum(self.mix.values())

    @property
    def multiply_adds(self) -> int:
        return sum(self.mix.get(name, 0) for name in FFMA)

    @property
    def share(self) -> float:
        """The fraction of the loop's instructions that are multiply-adds."""
        return self.multiply_adds / self.instructions

    @property
    def kept_share(self) -> float:
        """The fraction of the operands of multiply-adds that are marked for reuse."""
        return self.kept / (OPERANDS * self.multiply_adds)

    @property
    def cycles(self) -> float:
        """Estimated cycles per multiply-add of a scheduler with 32 lanes."""
        return (self.instructions + self.waits) / self.multiply_adds

    @property
    def hot_loop(self) -> HotLoopCounts:
        """The loop in the form that the roofline takes."""
        shared = {
            int(name.removeprefix("LDS.")): count
            for name, count in self.mix.items()
            if name.startswith("LDS.")
        }
        return HotLoopCounts(self.instructions, self.multiply_adds, shared, self.waits)


def loop_of(xray: XRay) -> CompiledLoop:
    """Return the hot loop of an x-ray with its counts."""
    body = xray.hot.body
    multiply_adds = (instruction for instruction in body if instruction.name in FFMA)
    sources = [source for instruction in multiply_adds for source in instruction.sources if source]
    return CompiledLoop(
        xray.registers,
        xray.local_bytes,
        xray.spill_bytes,
        xray.bank_conflicts.waits,
        sum(reuse for _, reuse in sources),
        Counter(map(_name_with_width, body)),
    )


def _name_with_width(instruction: Instruction) -> str:
    """Return the name of an instruction; for a load or store with its width, such as "LDS.128"."""
    if instruction.name in (*widths.LOADS, *widths.STORES):
        return f"{instruction.name}.{widths.width(instruction)}"
    return instruction.name


def recorded_loop(kernel: str, max_registers: int | None = None) -> CompiledLoop:
    """Return the recorded hot loop of a kernel.

    kernel: the name with its constants, such as "tiled TILE=32". max_registers: the register limit
    with which it was compiled. Raises CourseError if this loop is not recorded.
    """
    loop = recorded_loops().get((kernel, max_registers))
    if loop is None:
        raise CourseError(
            f"{kernel} is not among the recorded loops: python -m tools.records.compiled_loops "
            "records those of the ladders."
        )
    return loop


@dataclass(frozen=True)
class RecordedLoop:
    """A row of the record: a loop, its kernel, and the versions of the compiler."""

    arch: str
    toolkit: str
    numba_cuda: str
    kernel: str
    max_registers: int | None
    loop: CompiledLoop


def recorded_loops() -> dict[tuple[str, int | None], CompiledLoop]:
    """Return all recorded loops, by (kernel, register limit)."""
    return {(row.kernel, row.max_registers): row.loop for row in rows.read(COUNTS, RecordedLoop)}


@dataclass(frozen=True)
class ListedInstruction:
    """A row of the listings: one instruction. operands: separated by "; ". word: in hex."""

    arch: str
    kernel: str
    address: int
    predicate: str | None
    opcode: str
    operands: str
    word: str


@cache
def listing(kernel: str) -> tuple[Instruction, ...]:
    """Return the instructions of one iteration of a recorded hot loop.

    Raises CourseError if the listings do not have the kernel.
    """
    instructions = tuple(
        Instruction(
            row.address,
            row.predicate or "",
            row.opcode,
            tuple(row.operands.split("; ")),
            int(row.word, 16),
        )
        for row in rows.read(LISTINGS, ListedInstruction)
        if row.kernel == kernel
    )
    if not instructions:
        raise CourseError(f"The loop of {kernel} is not listed in {LISTINGS.name}.")
    return instructions
