"""Record the hot loops that lessons 16 and 21 show, so that they need no compiler.

    python -m tests.kernels.compiled_loops

needs the compiler and no GPU. Use the toolkit with which the times were recorded. It writes
``loop_counts.csv`` and ``listings.csv`` into ``data/compiled``.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path

from numba import cuda

import gemm_kernels
import latency_kernels
from gpu_xray import XRay, xray
from labs import EXERCISES
from utils.ladder.step import Variant
from utils.lessons.compiled_loops import ARCH, COUNTS, LISTINGS, loop_of
from utils.machine.versions import versions
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


def count_row(name: str, limit: int | None, seen: XRay) -> dict:
    loop, now = loop_of(seen), versions()
    return {
        "arch": ARCH,
        "toolkit": now.toolkit,
        "numba_cuda": now.numba_cuda,
        "kernel": name,
        "max_registers": limit or "",
        "registers": loop.registers,
        "local_bytes": loop.local_bytes,
        "spill_bytes": loop.spill_bytes,
        "waits": f"{loop.waits:g}",
        "kept": loop.kept,
        "mix": " ".join(f"{name}:{count}" for name, count in loop.mix.items()),
    }


def listing_rows(variant: Variant) -> Iterator[dict]:
    for one in xray(variant.kernel, variant.step.signature, ARCH).hot.body:
        yield {
            "arch": ARCH,
            "kernel": str(variant),
            "address": one.address,
            "predicate": one.predicate,
            "opcode": one.opcode,
            "operands": "; ".join(one.operands),
            "word": f"{one.word:032x}",
        }


def write(rows: list[dict], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    rows = [
        count_row(name, limit, xray(kernel, signature, ARCH))
        for name, limit, kernel, signature in kernels()
    ]
    write(rows, COUNTS)
    write([row for variant in listed() for row in listing_rows(variant)], LISTINGS)


if __name__ == "__main__":
    main()
