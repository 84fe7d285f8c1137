"""The loads of a by pairs: what one mma needs if each load brings a lane two elements of a row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from IPython.display import HTML
from numba import cuda, float32, uint32
from numba.types import float16

from utils.intrinsics.tensor import load_pair, mma_m16n8k8
from utils.lessons.cards import Card, Table, table
from utils.lessons.code import show_kernel
from utils.lessons.findings import findings
from utils.lessons.lesson_22 import limits
from utils.translation import translate
from virtual_gpu import Trace
from virtual_gpu import trace as run_traced

SHAPE = (32, 16, 64)  # m, n, k; rows of a are a cache line long


@cuda.jit(device=True)
def by_elements(of_a, a, y, z):
    """Load the four elements of a that a lane holds, one by one.

    y: the upper one of its two rows. z: the first one of its two columns.
    """
    for i in range(4):
        of_a[i] = a[y + i // 2 * 8, z + i % 2]


@cuda.jit(device=True)
def by_pairs(of_a, a, y, z):
    """Load the same elements by two loads; y, z: as in `by_elements`."""
    for i in range(2):
        of_a[2 * i], of_a[2 * i + 1] = load_pair(a, (y + i * 8, z))


def kernel_with(load_a: Callable):
    """Return a kernel (a, b, c) of a warp per 16×8 of c, whose sizes fit.

    load_a: a device function with the parameters of `by_elements`.
    """

    @cuda.jit
    def with_loads(a, b, c):
        sums = cuda.local.array(4, float32)
        of_a = cuda.local.array(4, float16)
        of_b = cuda.local.array(2, float16)
        lane = uint32(cuda.threadIdx.x)
        group, pair = lane // 4, lane % 4 * 2
        row, col = uint32(cuda.blockIdx.y * 16), uint32(cuda.blockIdx.x * 8)
        for i in range(4):
            sums[i] = float32(0)
        for start in range(0, a.shape[1], 8):
            load_a(of_a, a, row + group, start + pair)
            for i in range(2):
                of_b[i] = b[start + pair + i, col + group]
            mma_m16n8k8(sums, of_a, of_b)
        for i in range(4):
            c[row + group + i // 2 * 8, col + pair + i % 2] = sums[i]

    return with_loads


def traced(load_a: Callable) -> tuple[Trace, bool]:
    """Return the trace of a product with these loads of a, and True if the product is right."""
    m, n, k = SHAPE
    draw = np.random.default_rng(22)
    a, b = (draw.integers(-7, 8, size).astype(np.float16) for size in ((m, k), (k, n)))
    # Rows of b have the distance of a cache line, as in a large matrix.
    wide = np.zeros((k, 64), np.float16)
    wide[:, :n] = b
    c = np.full((m, n), np.nan, np.float32)
    trace = run_traced(kernel_with(load_a), (n // 8, m // 16), (32,), a, wide, c)
    return trace, bool(np.array_equal(c, a.astype(np.float32) @ b.astype(np.float32)))


def lines() -> float:
    """Return the cache lines that the loads of one mma touch, if those of a bring pairs."""
    return limits.lines_per_mma(traced(by_pairs)[0])


def count(load_a: Callable) -> Table | Card:
    """Return a table of the loads of one mma with `load_a`, or a card on what is wrong with it."""
    trace, right = traced(load_a)
    if trace.findings:
        return findings(trace)
    if not right:
        words = translate("With these loads the product is wrong: a lane holds other elements.")
        return Card("bad", (words,))
    loads = trace.accesses.query("kind == 'load'")[list(limits.COUNTS)].sum() / trace.totals["mma"]
    ms = limits.lines_ms(loads["cache_lines"])
    head = ("loads per mma", *limits.COUNTS.values(), f"their ms at {limits.SIDE}")
    row = ("with your `load_a`", *(f"{loads[one]:g}" for one in limits.COUNTS), f"{ms:.1f}")
    return table("Counted on the virtual GPU", head, [row])


def solution() -> HTML:
    """Return the source of the loads by pairs."""
    return show_kernel(by_pairs, comments=False)
