"""The recorded machine code of every GPU step, made by two compilers for three architectures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from utils.measuring import rows
from utils.paths import DATA

TABLE = DATA / "compiled" / "compilers.csv"
ARCHITECTURES = ("sm_75", "sm_80", "sm_90")


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
