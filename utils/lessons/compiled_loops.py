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
    """Counts of one iteration of a kernel's hot loop, and the resources that one thread needs.

    registers: registers per thread. local_bytes, spill_bytes: bytes of local memory, and of spilled
    registers, per thread. waits: cycles per iteration that register bank conflicts cost in the
    model of `gpu_xray.register_banks`. kept: the number of register operands of multiply-adds that
    are marked .reuse. mix: the number of instructions by name, with the width in bits for loads and
    stores, such as {"FFMA": 64, "LDS.128": 4}.
    """

    registers: int
    local_bytes: int
    spill_bytes: int
    waits: float
    kept: int
    mix: Mapping[str, int]

    @property
    def instructions(self) -> int:
        """The number of instructions in one iteration."""
        return sum(self.mix.values())

    @property
    def multiply_adds(self) -> int:
        """The number of float32 multiply-add instructions in one iteration."""
        return sum(self.mix.get(name, 0) for name in FFMA)

    @property
    def share(self) -> float:
        """The fraction of the loop's instructions that are multiply-adds."""
        return self.multiply_adds / self.instructions

    @property
    def kept_share(self) -> float:
        """The fraction of the register operands of multiply-adds that are marked .reuse."""
        return self.kept / (OPERANDS * self.multiply_adds)

    @property
    def cycles(self) -> float:
        """The estimated cycles per multiply-add instruction of a warp.

        It assumes that the scheduler has 32 lanes, issues one instruction per cycle, and waits only
        for register bank conflicts.
        """
        return (self.instructions + self.waits) / self.multiply_adds

    @property
    def hot_loop(self) -> HotLoopCounts:
        """The loop's instructions, multiply-adds, shared loads by width in bits, and waits."""
        shared = {
            int(name.removeprefix("LDS.")): count
            for name, count in self.mix.items()
            if name.startswith("LDS.")
        }
        return HotLoopCounts(self.instructions, self.multiply_adds, shared, self.waits)


def loop_of(xray: XRay) -> CompiledLoop:
    """Return the counts of the hot loop in an x-ray, which must have a loop."""
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

    kernel: the name with its constants, such as "tiled TILE=32". max_registers: the limit of
    registers per thread with which it was compiled, None for no limit. Raises CourseError if this
    loop is not recorded.
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
    """A row of `loop_counts.csv`: a kernel's hot loop, and how the kernel was compiled.

    arch: the architecture, such as "sm_90". toolkit, numba_cuda: the compiler's versions. kernel:
    the name with its constants. max_registers: the limit of registers per thread, None for none.
    """

    arch: str
    toolkit: str
    numba_cuda: str
    kernel: str
    max_registers: int | None
    loop: CompiledLoop


def recorded_loops() -> dict[tuple[str, int | None], CompiledLoop]:
    """Return all recorded loops by (kernel, register limit), such as ("tiled TILE=32", None)."""
    return {(row.kernel, row.max_registers): row.loop for row in rows.read(COUNTS, RecordedLoop)}


@dataclass(frozen=True)
class ListedInstruction:
    """A row of `listings.csv`: one instruction of a kernel's hot loop.

    arch: such as "sm_90". kernel: the name with its constants. address: the offset in bytes from
    the start of the kernel. predicate: such as "@!P0", None if the instruction is always executed.
    opcode: such as "LDS.128". operands: the operands, separated by "; ". word: the encoded
    instruction in hexadecimal. line: the text of its Python line without spaces around it, None if
    it has no line.
    """

    arch: str
    kernel: str
    address: int
    predicate: str | None
    opcode: str
    operands: str
    word: str
    line: str | None


@dataclass(frozen=True)
class LoopRow:
    """An instruction of a loop, and the stripped text of its Python line, or None."""

    instruction: Instruction
    line: str | None


def rows_of(xray: XRay) -> tuple[LoopRow, ...]:
    """Return the instructions of the hot loop of an x-ray with their Python lines, in order.

    The kernel is compiled a second time, with line information.
    """
    lines = {
        one.address: row.source.strip()
        for row in xray.listing().rows
        if row.number is not None
        for one in row.sass
    }
    return tuple(LoopRow(one, lines.get(one.address)) for one in xray.hot.body)


@cache
def listed_kernels() -> frozenset[str]:
    """Return the kernels in `listings.csv`; the result is cached.

    Each is a text in the form of `str(variant)`, such as "naive" or "unrolled UNROLL=4".
    """
    return frozenset(row.kernel for row in rows.read(LISTINGS, ListedInstruction))


@cache
def listed_rows(kernel: str) -> tuple[LoopRow, ...]:
    """Return the instructions of a kernel's recorded hot loop with their lines; they are cached.

    kernel: the name with its constants. Raises CourseError if `listings.csv` does not have the
    kernel.
    """
    found = tuple(
        LoopRow(
            Instruction(
                row.address,
                row.predicate or "",
                row.opcode,
                tuple(row.operands.split("; ")),
                int(row.word, 16),
            ),
            row.line,
        )
        for row in rows.read(LISTINGS, ListedInstruction)
        if row.kernel == kernel
    )
    if not found:
        raise CourseError(f"The loop of {kernel} is not listed in {LISTINGS.name}.")
    return found


def listing(kernel: str) -> tuple[Instruction, ...]:
    """Return the instructions of a kernel's recorded hot loop, in order.

    kernel: the name with its constants. Raises CourseError if the kernel is not listed.
    """
    return tuple(row.instruction for row in listed_rows(kernel))
