"""How many bits one thread moves with one memory instruction."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from gpu_xray.sass import Instruction

GLOBAL_LOADS = ("LDG", "LDGSTS")
SHARED_LOADS = ("LDS",)
LOADS = (*GLOBAL_LOADS, *SHARED_LOADS, "LDL")
STORES = ("STG", "STS", "STL", "LDGSTS")
_WIDTH = re.compile(r"\.[US]?(8|16|32|64|128|256)(?![\w])")


def width(instruction: Instruction) -> int:
    """The bits per thread: 32 unless the opcode says otherwise."""
    found = _WIDTH.search(instruction.opcode)
    return int(found[1]) if found else 32


def count_widths(code: Iterable[Instruction], names: Iterable[str]) -> Counter[str]:
    """How often each opcode of `names` stands in the code, such as {"LDG.128": 2}."""
    return Counter(f"{one.name}.{width(one)}" for one in code if one.name in names)


def widest(code: Iterable[Instruction], names: Iterable[str]) -> int:
    """The bits of the widest instruction of `names`; 0 where there is none."""
    return max((width(one) for one in code if one.name in names), default=0)


def loaded_bytes(code: Iterable[Instruction], names: Iterable[str]) -> int:
    """The bytes that one thread asks of memory when each instruction of `names` is executed once.

    Counted are the bytes of a thread: what the lanes of a warp share is counted for each.
    """
    return sum(width(one) // 8 for one in code if one.name in names)
