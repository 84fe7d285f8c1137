"""Register banks: which multiply-adds wait for an operand, and which the reuse cache saves.

Since compute capability 7.0 the register file of a scheduler has two banks, even and odd register
numbers, of which each delivers two operands per issue. Three different registers of one parity need
a second one. An operand that the instruction before marked .reuse in the same slot comes from the
reuse cache and needs no bank. (Jia, Maggioni, Staiger, Scarpazza, "Dissecting the NVIDIA Volta GPU
Architecture via Microbenchmarking", 2018; they measured compute capability 7.0.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from utils.xray.loops import FFMA
from utils.xray.sass import Instruction


@dataclass(frozen=True)
class BankConflicts:
    """left: multiply-adds that need a second turn. saved: those that the reuse cache spares it."""

    left: int
    saved: int


def bank_conflicts(code: Sequence[Instruction]) -> BankConflicts:
    """Counted over consecutive instructions of one warp.

    `saved` is at most this: another warp that is issued in between replaces the cache's content.
    """
    left = without_cache = 0
    kept: dict[int, str] = {}
    for instruction in code:
        sources = dict(enumerate(instruction.sources))
        registers = {slot: source[0] for slot, source in sources.items() if source}
        if instruction.name in FFMA:
            read = {name for slot, name in registers.items() if kept.get(slot) != name}
            left += _collide(read)
            without_cache += _collide(set(registers.values()))
        kept = {slot: source[0] for slot, source in sources.items() if source and source[1]}
    return BankConflicts(left=left, saved=without_cache - left)


def _collide(registers: set[str]) -> bool:
    parities = [int(name[1:]) % 2 for name in registers]
    return max(parities.count(0), parities.count(1)) > 2
