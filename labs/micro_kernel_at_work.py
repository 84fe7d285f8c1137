"""A matrix product with the reader's micro-kernel, timed on this machine."""

from __future__ import annotations

from gemm_kernels.cpu.tuning.reader_kernel import rates
from labs.by_name import check
from labs.exercises import find
from utils.lessons.cards import Table, table
from utils.machine import processors

SIZE = 256


def at_work(micro_kernel) -> Table:
    """Time a matrix product with the reader's micro-kernel, and return a table of GFLOP/s.

    The table has three rows: this product, multiply-adds alone, and NumPy's BLAS. They are timed
    alternately on one core. If the micro-kernel computes a wrong tile, the solution is timed
    instead; in a copy of the course without solutions, nothing is timed and the table says "not
    right yet". A micro-kernel that is right but loads too often is timed as it is.
    """
    verdict = check("micro_kernel", micro_kernel)
    right = verdict.passed or bool(verdict.counts)  # counts are taken only if the tile is right
    own = "your micro-kernel" if right else "the solution (yours is not right yet)"
    exercise = find("micro_kernel")
    if not right and not exercise.has("solution"):
        return table("Nothing was timed", ("", ""), [("your micro-kernel", "not right yet")])
    gflops = rates(micro_kernel if right else exercise.solution, SIZE)
    rows = {own: gflops.own, "multiply-adds alone": gflops.fma_loop, "NumPy's BLAS": gflops.numpy}
    return table(
        f"A product of {SIZE}×{SIZE}×{SIZE}, measured here on one core",
        ("", "GFLOP/s", "share of the peak"),
        [(name, f"{rate:.1f}", f"{rate / gflops.fma_loop:.0%}") for name, rate in rows.items()],
        processors.current().sentence,
    )
