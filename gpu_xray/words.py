"""Plain words for opcodes, and the instruction mix in groups that have them.

`gpu_xray/data/sass_opcodes.csv` follows the instruction set tables of NVIDIA's "CUDA Binary Utilities";
what they leave out is described by what our kernels do with it.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable
from functools import cache

from gpu_xray.sass import Instruction
from utils.paths import DATA

UNKNOWN = "not in our table"


def words_for(opcode: str) -> str:
    """What an opcode (without modifiers) does, in a few words."""
    return _table().get(opcode, ("", UNKNOWN))[1]


def mix(code: Iterable[Instruction]) -> dict[str, int]:
    """Instructions by what they do; groups of which there are none are left out."""
    counts = Counter(_table().get(one.name, ("other", UNKNOWN))[0] for one in code)
    groups = dict.fromkeys(group for group, _ in _table().values())
    return {group: counts[group] for group in (*groups, "other") if counts[group]}


@cache
def _table() -> dict[str, tuple[str, str]]:
    with (DATA / "sass_opcodes.csv").open(encoding="utf-8", newline="") as file:
        return {row["opcode"]: (row["group"], row["words"]) for row in csv.DictReader(file)}
