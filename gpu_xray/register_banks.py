"""A model of register bank conflicts: the multiply-adds that wait for an operand.

The register file of a scheduler has two banks, the even and the odd register numbers, and each
delivers one operand of a warp instruction per cycle. An FFMA reads three registers. An operand that
the previous instruction marked .reuse in the same slot comes from the reuse cache and needs no
bank. There are two banks since compute capability 7.0: Jia, Maggioni, Staiger, Scarpazza,
"Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018. The rate of one operand
per cycle and the queue are fitted to loops of FFMAs on an H200, whose times this model meets to
1 to 3 %; see gemm_kernels/tuning/TUNING.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpu_xray.loops import FFMA
from gpu_xray.sass import Instruction

# The reads by which a bank may fall behind before the next instruction waits, because neighbouring
# instructions that read less make up for it.
QUEUE = 2.5


@dataclass(frozen=True)
class BankConflicts:
    """The bank conflicts in a piece of machine code.

    conflicts: multiply-adds that read more from one bank than it delivers while they are issued.
    saved: multiply-adds without a conflict that would have one without the reuse cache.
    waits: cycles that the conflicts cost one warp, if no other warp is issued in between.
    """

    conflicts: int
    saved: int
    waits: float


def bank_conflicts(code: Sequence[Instruction], cycles_per_ffma: float = 1) -> BankConflicts:
    """Return the bank conflicts of consecutive instructions of one warp.

    ``cycles_per_ffma`` is the number of cycles in which a scheduler issues a multiply-add: 1, or 2
    if it has 16 FP32 lanes, because the banks then have twice the time. `BankConflicts.saved` is an
    upper bound, because another warp that is issued in between replaces the content of the reuse
    cache.
    """
    conflicts = without_cache = 0
    waits, queues = 0.0, [0.0, 0.0]
    reusable: dict[int, str] = {}
    for instruction in code:
        sources = dict(enumerate(instruction.sources))
        registers = {slot: source[0] for slot, source in sources.items() if source}
        read = {name for slot, name in registers.items() if reusable.get(slot) != name}
        cycles = cycles_per_ffma if instruction.name in FFMA else 1
        reads = _per_bank(read)
        if instruction.name in FFMA:
            conflicts += max(reads) > cycles
            without_cache += max(_per_bank(set(registers.values()))) > cycles
            late = max(0.0, *(queue + new - QUEUE for queue, new in zip(queues, reads)))
            waits, cycles = waits + late, cycles + late
        queues = [max(0.0, queue + new - cycles) for queue, new in zip(queues, reads)]
        reusable = {slot: source[0] for slot, source in sources.items() if source and source[1]}
    return BankConflicts(conflicts=conflicts, saved=without_cache - conflicts, waits=waits)


def _per_bank(registers: set[str]) -> tuple[int, int]:
    """Return (number of even registers, number of odd registers) of names such as "R4"."""
    odd = sum(int(name[1:]) % 2 for name in registers)
    return len(registers) - odd, odd
