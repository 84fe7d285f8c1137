"""The widths of memory instructions: the bits that a thread moves with one of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from gpu_xray.sass import Instruction

GLOBAL_LOADS = ("LDG", "LDGSTS")
SHARED_LOADS = ("LDS", "LDSM")
LOADS = (*GLOBAL_LOADS, *SHARED_LOADS, "LDL")
STORES = ("STG", "STS", "STL", "LDGSTS")
_MATRICES = re.compile(r"MT?88(?:\.([24]))?")
_WIDTH = re.compile(r"\.[US]?(8|16|32|64|128|256)(?![\w])")


def width(instruction: Instruction) -> int:
    """Return the bits per thread of a memory instruction: 32 unless the opcode names a width.

    LDSM names the bits of an element, and at its end the number of matrices if there are several: a
    thread receives 32 bits of each.
    """
    if instruction.name == "LDSM":
        return 32 * int(_MATRICES.search(instruction.opcode)[1] or 1)
    match = _WIDTH.search(instruction.opcode)
    return int(match[1]) if match else 32


def count_widths(code: Iterable[Instruction], names: Iterable[str]) -> Counter[str]:
    """Count the instructions `names` by width, such as {"LDG.128": 2}.

    `names` are opcodes without modifiers. The width is in bits per thread.
    """
    return Counter(f"{each.name}.{width(each)}" for each in code if each.name in names)


def widest(code: Iterable[Instruction], names: Iterable[str]) -> int:
    """Return the greatest width in bits of the instructions `names`; 0 if there is none.

    `names` are opcodes without modifiers.
    """
    return max((width(each) for each in code if each.name in names), default=0)


def loaded_bytes(code: Iterable[Instruction], names: Iterable[str]) -> int:
    """Return the bytes that one thread loads if each instruction of `names` is executed once.

    `names` are opcodes without modifiers. Bytes that several lanes of a warp share are counted for
    each of them.
    """
    return sum(width(each) // 8 for each in code if each.name in names)
