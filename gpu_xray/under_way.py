"""How many loads a thread has under way, before an instruction needs what one of them brings."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpu_xray.sass import Instruction

LOAD = "LDG"
_NAMED = re.compile(r"\bR(\d+)(\.64)?")


def loads_before_use(code: Sequence[Instruction]) -> int:
    """The most loads from global memory that stand in a row before a value of theirs is needed.

    Of each load, the loads from it on are counted up to the first instruction that names a register
    which one of them writes; 0 for code without such loads. The instructions count in the order in
    which they stand: a branch is passed by.
    """
    return max((_from(code, place) for place in _loads(code)), default=0)


def _loads(code: Sequence[Instruction]) -> list[int]:
    return [place for place, one in enumerate(code) if one.name == LOAD]


def _from(code: Sequence[Instruction], start: int) -> int:
    """Loads from this place on until the first use."""
    loaded: set[str] = set()
    count = 0
    for one in code[start:]:
        is_load = one.name == LOAD
        if loaded & _named(one.operands[1:] if is_load else one.operands):
            break
        if is_load:
            loaded |= one.loaded
            count += 1
    return count


def _named(operands: Sequence[str]) -> set[str]:
    """The registers in some operands; an address of 64 bits takes two."""
    found = set()
    for operand in operands:
        for number, wide in _NAMED.findall(operand):
            found |= {f"R{int(number) + i}" for i in range(2 if wide else 1)}
    return found
