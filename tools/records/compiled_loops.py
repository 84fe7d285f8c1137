"""Record the hot loops that lessons 16 and 21 show, so that they need no compiler.

    python -m tools.records.compiled_loops

needs the compiler and no GPU. Use the toolkit with which the times were recorded. It writes
``loop_counts.csv`` and ``listings.csv`` into ``data/compiled``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from numba import cuda

import gemm_kernels
import latency_kernels
from gpu_xray import XRay, xray
from labs import EXERCISES
from utils.ladder.step import Variant
from utils.lessons.compiled_loops import ARCH, COUNTS, LISTINGS, Listed, Recorded, loop_of
from utils.machine.versions import versions
from utils.measuring import rows
from utils.measuring.roofline import recorded

DEVICE, SIZE = "NVIDIA H200", "4096"
FMA_LOOP = latency_kernels.LADDER.step("fma_loop")
LIMITS = (80, 72, 64, 48)
EXERCISE = EXERCISES["sums_in_registers"]
PRODUCT = gemm_kernels.LADDER.step("naive").signature


def variants() -> list[Variant]:
    """The steps of the products with the constants that were fastest, and the loop's orders."""
    ladder = gemm_kernels.LADDER
    best = [variant for variant, _ in recorded(ladder, ladder.parse(SIZE), DEVICE)]
    return [*best, *FMA_LOOP.variants()]


def kernels() -> Iterator[tuple[str, int | None, Callable, object]]:
    """Name, limit of registers, kernel and signature of each."""
    for variant in variants():
        yield str(variant), None, variant.kernel, variant.step.signature
    python, name = FMA_LOOP.build().py_func, str(FMA_LOOP.variant())
    for limit in LIMITS:
        yield name, limit, cuda.jit(max_registers=limit)(python), FMA_LOOP.signature
    for name in ("starter", "solution"):
        yield f"{EXERCISE.name} {name}", None, getattr(EXERCISE, name), PRODUCT


def listed() -> list[Variant]:
    """Those whose loop is kept instruction by instruction."""
    return [gemm_kernels.LADDER.step("naive").variant(), *FMA_LOOP.variants()]


def counted(name: str, limit: int | None, seen: XRay) -> Recorded:
    now = versions()
    return Recorded(ARCH, now.toolkit, now.numba_cuda, name, limit, loop_of(seen))


def instructions(variant: Variant) -> Iterator[Listed]:
    for one in xray(variant.kernel, variant.step.signature, ARCH).hot.body:
        yield Listed(
            ARCH, str(variant), one.address, one.predicate or None, one.opcode,
            "; ".join(one.operands), f"{one.word:032x}",
        )  # fmt: skip


def main() -> None:
    found = (
        counted(name, limit, xray(kernel, signature, ARCH))
        for name, limit, kernel, signature in kernels()
    )
    rows.write(COUNTS, found, Recorded)
    rows.write(LISTINGS, (one for each in listed() for one in instructions(each)), Listed)


if __name__ == "__main__":
    main()
