"""Register banks: which multiply-adds wait for an operand, and which the reuse cache spares it.

The register file of a scheduler has two banks, the even and the odd register numbers, and each
delivers one operand of a warp instruction per cycle. An FFMA reads three registers. An operand that
the instruction before marked .reuse in the same slot comes from the reuse cache and needs no bank.
(Two banks since compute capability 7.0: Jia, Maggioni, Staiger, Scarpazza, "Dissecting the NVIDIA
Volta GPU Architecture via Microbenchmarking", 2018. One operand per cycle, and the queue: loops of
FFMAs on an H200, whose times this model meets to 1 to 3 %; see gemm_kernels/tuning/TUNING.md.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpu_xray.loops import FFMA
from gpu_xray.sass import Instruction

# So many reads a bank may fall behind before the next instruction waits: neighbours make up for
# each other.
QUEUE = 2.5


@dataclass(frozen=True)
class BankConflicts:
    """left: multiply-adds that want more of one bank than it delivers while they are issued.

    saved: those of which the reuse cache makes none.
    waits: cycles that the code loses by it, if one warp after the other goes through.
    """

    left: int
    saved: int
    waits: float


def bank_conflicts(code: Sequence[Instruction], cycles_per_ffma: float = 1) -> BankConflicts:
    """Counted over consecutive instructions of one warp.

    cycles_per_ffma: 2 where a scheduler has 16 FP32 lanes; the banks then have twice the time.
    `saved` is at most this: another warp that is issued in between replaces the cache's content.
    """
    left = without_cache = 0
    waits, queues = 0.0, [0.0, 0.0]
    kept: dict[int, str] = {}
    for instruction in code:
        sources = dict(enumerate(instruction.sources))
        registers = {slot: source[0] for slot, source in sources.items() if source}
        read = {name for slot, name in registers.items() if kept.get(slot) != name}
        cycles = cycles_per_ffma if instruction.name in FFMA else 1
        wanted = _per_bank(read)
        if instruction.name in FFMA:
            left += max(wanted) > cycles
            without_cache += max(_per_bank(set(registers.values()))) > cycles
            late = max(0.0, *(queue + new - QUEUE for queue, new in zip(queues, wanted)))
            waits, cycles = waits + late, cycles + late
        queues = [max(0.0, queue + new - cycles) for queue, new in zip(queues, wanted)]
        kept = {slot: source[0] for slot, source in sources.items() if source and source[1]}
    return BankConflicts(left=left, saved=without_cache - left, waits=waits)


def _per_bank(registers: set[str]) -> tuple[int, int]:
    odd = sum(int(name[1:]) % 2 for name in registers)
    return len(registers) - odd, odd
