"""Record the hot loops that lessons 06, 15, 16 and 21 show, so that they need no compiler.

    python -m tools.records.compiled_loops

needs the compiler and no GPU. Use the toolkit with which the times were recorded. It writes
``loop_counts.csv`` and ``listings.csv`` into ``data/compiled``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from numba import cuda

import gemm_kernels
import latency_kernels
from gemm_kernels.parts.lane_maps import Z_ORDER, ZIG_ZAG
from gpu_xray import XRay, xray
from labs import EXERCISES
from utils.ladder.step import Variant
from utils.lessons.compiled_loops import (
    ARCH,
    COUNTS,
    LISTINGS,
    ListedInstruction,
    RecordedLoop,
    loop_of,
    rows_of,
)
from utils.lessons.lesson_06.loops import WITH_RANGE, with_range
from utils.machine.versions import versions
from utils.measuring import rows
from utils.measuring.roofline import recorded

DEVICE, SIZE = "NVIDIA H200", "4096"
FMA_LOOP = latency_kernels.LADDER.step("fma_loop")
LIMITS = (80, 72, 64, 48)
UNROLL_FACTORS = (1, 2, 4, 8, 16)
EXERCISE = EXERCISES["sums_in_registers"]
STARTERS = (EXERCISES["single_precision"], EXERCISE)
PRODUCT = gemm_kernels.LADDER.step("naive").signature


def variants() -> list[Variant]:
    """Return the recorded steps of products, two slower maps, and all variants of `fma_loop`.

    A step of products has the constants that were fastest at `SIZE` on `DEVICE`. The maps are those
    of `warp_tiled` with which lesson 15 compares the fastest.
    """
    ladder = gemm_kernels.LADDER
    best = [variant for variant, _ in recorded(ladder, ladder.parse(SIZE), DEVICE)]
    maps = [ladder.step("warp_tiled").variant(LANES=lanes, BK=8) for lanes in (Z_ORDER, ZIG_ZAG)]
    return [*best, *maps, *FMA_LOOP.variants()]


def kernels() -> Iterator[tuple[str, int | None, Callable, object]]:
    """Yield (name, limit of registers, kernel, signature) per row of `loop_counts.csv`.

    The limit is None if the compiler chooses the number of registers.
    """
    for variant in variants():
        yield str(variant), None, variant.kernel, variant.step.signature
    python, name = FMA_LOOP.build().py_func, str(FMA_LOOP.variant())
    for limit in LIMITS:
        yield name, limit, cuda.jit(max_registers=limit)(python), FMA_LOOP.signature
    for name in ("starter", "solution"):
        yield f"{EXERCISE.name} {name}", None, getattr(EXERCISE, name), PRODUCT


def listed() -> Iterator[tuple[str, Callable, object]]:
    """Yield (name, kernel, signature) of every kernel whose loop is in `listings.csv`.

    A name has the form of `str(variant)`, or is "naive with range", or the name of an exercise with
    "starter" or "solution", such as "sums_in_registers solution".
    """
    steps = map(gemm_kernels.LADDER.step, ("naive", "multi_output"))
    for variant in (*(step.variant() for step in steps), *FMA_LOOP.variants()):
        yield str(variant), variant.kernel, variant.step.signature
    for factor in UNROLL_FACTORS:
        variant = gemm_kernels.LADDER.step("unrolled").variant(UNROLL=factor)
        yield str(variant), variant.kernel, variant.step.signature
    yield WITH_RANGE, with_range().build(), PRODUCT
    for exercise in STARTERS:
        yield f"{exercise.name} starter", exercise.starter, PRODUCT
    yield f"{EXERCISE.name} solution", EXERCISE.solution, PRODUCT


def counted(name: str, limit: int | None, report: XRay) -> RecordedLoop:
    """Return the row with the counts of one kernel's hot loop, and the versions of the compiler.

    name: the kernel's name. limit: the greatest number of registers per thread, or None. report:
    the kernel's x-ray.
    """
    installed = versions()
    return RecordedLoop(ARCH, installed.toolkit, installed.numba_cuda, name, limit, loop_of(report))


def instructions(name: str, kernel: Callable, signature: object) -> Iterator[ListedInstruction]:
    """Yield a row per instruction of a kernel's hot loop, in order; the kernel is compiled."""
    for row in rows_of(xray(kernel, signature, ARCH)):
        one = row.instruction
        yield ListedInstruction(
            ARCH, name, one.address, one.predicate or None, one.opcode,
            "; ".join(one.operands), f"{one.word:032x}", row.line,
        )  # fmt: skip


def main() -> None:
    """Compile all kernels and write the tables `loop_counts.csv` and `listings.csv`."""
    counts = (
        counted(name, limit, xray(kernel, signature, ARCH))
        for name, limit, kernel, signature in kernels()
    )
    rows.write(COUNTS, counts, RecordedLoop)
    listings = (row for one in listed() for row in instructions(*one))
    rows.write(LISTINGS, listings, ListedInstruction)


if __name__ == "__main__":
    main()
