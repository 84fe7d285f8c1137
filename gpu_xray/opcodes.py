"""The meaning of SASS opcodes in plain words, and the instruction mix of a piece of code.

`data/sass_opcodes.csv` follows the instruction set tables of NVIDIA's "CUDA Binary Utilities". An
opcode that is not in those tables is described by its use in the course's kernels.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from gpu_xray.sass import Instruction

TABLE = Path(__file__).parent / "data" / "sass_opcodes.csv"
UNKNOWN = "not in our table"


def meaning_of(opcode: str) -> str:
    """Return what an opcode without modifiers does, in a few words, or "not in our table"."""
    return _table().get(opcode, ("", UNKNOWN))[1]


def mix(code: Iterable[Instruction]) -> dict[str, int]:
    """Return group -> number of instructions, such as {"moves": 3}, without empty groups.

    The groups are in the order of `data/sass_opcodes.csv`; "other" is last and counts the opcodes
    that are not in the file.
    """
    counts = Counter(_table().get(each.name, ("other", UNKNOWN))[0] for each in code)
    groups = dict.fromkeys(group for group, _ in _table().values())
    return {group: counts[group] for group in (*groups, "other") if counts[group]}


@cache
def _table() -> dict[str, tuple[str, str]]:
    """Return opcode -> (group, meaning), as `data/sass_opcodes.csv` has them."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {row["opcode"]: (row["group"], row["words"]) for row in csv.DictReader(file)}
