"""Hot loops as they were compiled for the records: what they hold, and some of them whole.

`python -m tools.records.compiled_loops` makes both tables, so that a lesson needs no compiler and
no minute to show the loops of a whole ladder.
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
from utils.measuring.roofline import HotLoop
from utils.paths import DATA

ARCH = "sm_90"
COUNTS = DATA / "compiled" / "loop_counts.csv"
LISTINGS = DATA / "compiled" / "listings.csv"
OPERANDS = 3  # registers that a multiply-add reads


@dataclass(frozen=True)
class CompiledLoop:
    """The hot loop of a kernel, and what its threads need.

    registers, local_bytes, spill_bytes: of a thread. mix: instructions of one turn by name, loads
    and stores with their width, such as {"FFMA": 64, "LDS.128": 4}. waits: cycles of a turn that
    register banks cost by the model of `gpu_xray.banks`. kept: operands of multiply-adds that
    are marked for reuse.
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
        """The fraction of the loop's instructions that multiply and add."""
        return self.multiply_adds / self.instructions

    @property
    def kept_share(self) -> float:
        """The fraction of the operands of multiply-adds that are marked for reuse."""
        return self.kept / (OPERANDS * self.multiply_adds)

    @property
    def cycles(self) -> float:
        """Estimated cycles of a scheduler with 32 lanes for each multiply-add."""
        return (self.instructions + self.waits) / self.multiply_adds

    @property
    def hot_loop(self) -> HotLoop:
        """In the form that the roofline wants."""
        shared = {
            int(name.removeprefix("LDS.")): count
            for name, count in self.mix.items()
            if name.startswith("LDS.")
        }
        return HotLoop(self.instructions, self.multiply_adds, shared, self.waits)


def loop_of(seen: XRay) -> CompiledLoop:
    """What an x-ray shows of its hot loop."""
    body = seen.hot.body
    wide = {*widths.LOADS, *widths.STORES}
    return CompiledLoop(
        seen.registers,
        seen.local_bytes,
        seen.spill_bytes,
        seen.bank_conflicts.waits,
        sum(source[1] for one in body if one.name in FFMA for source in one.sources if source),
        Counter(
            f"{one.name}.{widths.width(one)}" if one.name in wide else one.name for one in body
        ),
    )


def recorded_loop(kernel: str, max_registers: int | None = None) -> CompiledLoop:
    """The loop of a kernel that was compiled for the records.

    kernel: with its constants, such as "tiled TILE=32". max_registers: the limit that was set.
    CourseError for one that is not among them.
    """
    found = recorded_loops().get((kernel, max_registers))
    if found is None:
        raise CourseError(
            f"{kernel} is not among the recorded loops: python -m tools.records.compiled_loops "
            "records those of the ladders."
        )
    return found


@dataclass(frozen=True)
class Recorded:
    """A row of the record, and the compiler that made the loop."""

    arch: str
    toolkit: str
    numba_cuda: str
    kernel: str
    max_registers: int | None
    loop: CompiledLoop


def recorded_loops() -> dict[tuple[str, int | None], CompiledLoop]:
    """All of them, by kernel and limit of registers."""
    return {(row.kernel, row.max_registers): row.loop for row in rows.read(COUNTS, Recorded)}


@dataclass(frozen=True)
class Listed:
    """A row of the listings: one instruction. operands: separated by semicolons. word: in hex."""

    arch: str
    kernel: str
    address: int
    predicate: str | None
    opcode: str
    operands: str
    word: str


@cache
def listing(kernel: str) -> tuple[Instruction, ...]:
    """One turn of a recorded hot loop, instruction by instruction; CourseError for others."""
    found = tuple(
        Instruction(
            row.address,
            row.predicate or "",
            row.opcode,
            tuple(row.operands.split("; ")),
            int(row.word, 16),
        )
        for row in rows.read(LISTINGS, Listed)
        if row.kernel == kernel
    )
    if not found:
        raise CourseError(f"The loop of {kernel} is not listed in {LISTINGS.name}.")
    return found
