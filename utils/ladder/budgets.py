"""Check that the machine code of a step keeps the step's budget."""

from __future__ import annotations

from gpu_xray.kernel import XRay
from gpu_xray.widths import GLOBAL_LOADS, SHARED_LOADS, widest
from utils.ladder.step import Budget


def budget_violations(report: XRay, budget: Budget) -> list[str]:
    """Return one sentence per limit of the budget that the machine code does not keep.

    Some limits are the most that is allowed, such as registers, and some are the least, such as the
    width of loads. The list is empty if the code keeps the budget. report: the x-ray of the
    kernel's machine code.
    """
    broken = []
    if report.float64 and not budget.float64:
        broken.append(f"{report.float64} instructions compute in float64")
    if report.local_bytes > budget.spill_bytes:
        broken.append(
            f"a thread has {report.local_bytes} bytes of local memory, {budget.spill_bytes} allowed"
        )
    if budget.registers is not None and report.registers > budget.registers:
        broken.append(f"a thread has {report.registers} registers, {budget.registers} allowed")
    for where, names, bits in (
        ("global", GLOBAL_LOADS, budget.global_bits),
        ("shared", SHARED_LOADS, budget.shared_bits),
    ):
        if (width := widest(report.code, names)) < bits:
            broken.append(f"the widest load from {where} memory has {width} bits, not {bits}")
    if report.ffma_share < budget.ffma_share:
        broken.append(
            f"{report.ffma_share:.1%} of the hot loop are FFMAs, not {budget.ffma_share:.1%}"
        )
    if report.tensor_share < budget.tensor_share:
        broken.append(
            f"{report.tensor_share:.1%} of the hot loop are products on tensor cores, not "
            f"{budget.tensor_share:.1%}"
        )
    return [f"{report.kernel} for {report.arch}: {sentence}." for sentence in broken]
