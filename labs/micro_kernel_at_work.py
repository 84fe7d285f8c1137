"""The reader's micro-kernel in the middle of a product, timed on this machine."""

from __future__ import annotations

from gemm_kernels.cpu.tuning.own_tile import rates
from labs.by_name import check
from labs.exercises import find
from utils.lessons.cards import Table, table
from utils.machine import processors

SIZE = 256


def at_work(micro_kernel) -> Table:
    """GFLOP/s of a product with this micro-kernel, of a loop of multiply-adds, of NumPy's BLAS.

    One core, in turns. Where the micro-kernel computes a wrong tile, the solution takes its place;
    one that is right and loads too often is timed as it is.
    """
    verdict = check("micro_kernel", micro_kernel)
    right = verdict.passed or bool(verdict.counts)  # only of a right tile anything is counted
    own = "your micro-kernel" if right else "the solution (yours is not right yet)"
    seen = rates(micro_kernel if right else find("micro_kernel").solution, SIZE)
    told = {own: seen.own, "multiply-adds alone": seen.fma_loop, "NumPy's BLAS": seen.numpy}
    return table(
        f"A product of {SIZE}×{SIZE}×{SIZE}, measured here on one core",
        ("", "GFLOP/s", "share of the peak"),
        [(name, f"{rate:.1f}", f"{rate / seen.fma_loop:.0%}") for name, rate in told.items()],
        processors.current().sentence,
    )
