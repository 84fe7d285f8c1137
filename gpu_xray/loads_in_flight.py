"""Counts the loads that a thread has in flight before an instruction needs one of their values."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpu_xray.sass import Instruction

LOAD = "LDG"
_REGISTER = re.compile(r"\bR(\d+)(\.64)?")


def loads_before_use(code: Sequence[Instruction]) -> int:
    """Return the most global loads that are issued before one of their values is needed.

    For each load, the loads from it on are counted, up to the first instruction that names a
    register which one of them writes. Instructions are taken in the order of the listing, and
    branches are ignored. Returns 0 for code without global loads.
    """
    starts = [index for index, instruction in enumerate(code) if instruction.name == LOAD]
    return max((_loads_from(code, start) for start in starts), default=0)


def _loads_from(code: Sequence[Instruction], start: int) -> int:
    """Count the global loads from the index ``start`` on that come before the first use.

    A use is an instruction that names a register which one of these loads writes.
    """
    loaded: set[str] = set()
    count = 0
    for instruction in code[start:]:
        is_load = instruction.name == LOAD
        operands = instruction.operands[1:] if is_load else instruction.operands
        if loaded & _registers(operands):
            break
        if is_load:
            loaded |= instruction.loaded
            count += 1
    return count


def _registers(operands: Sequence[str]) -> set[str]:
    """Return the registers in the operands, such as {"R4", "R5"}; a 64-bit address takes two."""
    registers = set()
    for operand in operands:
        for number, wide in _REGISTER.findall(operand):
            registers |= {f"R{int(number) + i}" for i in range(2 if wide else 1)}
    return registers
