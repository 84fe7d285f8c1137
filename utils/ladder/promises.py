"""Does the machine code keep what its step promises?"""

from __future__ import annotations

from gpu_xray.kernel import XRay
from gpu_xray.widths import GLOBAL_LOADS, SHARED_LOADS, widest
from utils.ladder.step import Budget


def broken_promises(seen: XRay, budget: Budget) -> list[str]:
    """A sentence for each part of the budget that the machine code does not keep."""
    broken = []
    if seen.float64 and not budget.float64:
        broken.append(f"{seen.float64} instructions compute in float64")
    if seen.local_bytes > budget.spill_bytes:
        broken.append(
            f"a thread has {seen.local_bytes} bytes of local memory, {budget.spill_bytes} allowed"
        )
    if budget.registers is not None and seen.registers > budget.registers:
        broken.append(f"a thread has {seen.registers} registers, {budget.registers} allowed")
    for where, names, bits in (
        ("global", GLOBAL_LOADS, budget.global_bits),
        ("shared", SHARED_LOADS, budget.shared_bits),
    ):
        if (found := widest(seen.code, names)) < bits:
            broken.append(f"the widest load from {where} memory has {found} bits, not {bits}")
    if seen.ffma_share < budget.ffma_share:
        broken.append(
            f"{seen.ffma_share:.1%} of the hot loop are FFMAs, not {budget.ffma_share:.1%}"
        )
    return [f"{seen.kernel} for {seen.arch}: {sentence}." for sentence in broken]
