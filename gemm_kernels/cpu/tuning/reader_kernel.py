"""A product with a reader's micro-kernel inside the course's packing, and its speed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numba import float32, njit

from gemm_kernels.cpu.engine.packing import pack_panels
from gemm_kernels.cpu.tuning.peak import fma_loop, fma_loop_flops
from utils.errors import CourseError
from utils.ladder.libraries import NUMPY_BLAS
from utils.ladder.problems import draw
from utils.ladder.shapes import GemmShape
from utils.measuring.timing import time_cpu

ROWS, COLUMNS = 2, 8
MC, KC = 64, 256
CALLS = 100  # of a micro-kernel in one measurement
# Short repetitions, because on a busy machine only short moments are undisturbed.
REPETITIONS, REPETITION_MS = 40, 1.0


@dataclass(frozen=True)
class Rates:
    """Rates in GFLOP/s, measured in interleaved repetitions on one core of this machine.

    alone: the reader's micro-kernels on panels that stay in the nearest cache, in the order in
    which they were given. products: whole products with them, in the same order.
    fma_loop: a loop of nothing but multiply-adds of 8 lanes.
    numpy: NumPy's BLAS on one thread.
    """

    alone: tuple[float, ...]
    products: tuple[float, ...]
    fma_loop: float
    numpy: float


def product_with(micro_kernel: Callable) -> Callable:
    """Return a compiled function (a, b, c) that computes c = a·b with a reader's micro-kernel.

    `micro_kernel` is a compiled function (a, b, c) that stores the product of two packed blocks as
    a 2×8 tile in c. Its arguments are flat float32 arrays: the kc columns of a, two elements each,
    the kc rows of b, eight elements each, and the 16 elements of the tile, row by row. Blocks of a
    are 64×256.
    """

    @njit
    def product(a, b, c):
        (m, k), n = a.shape, b.shape[1]
        block = np.zeros((MC // ROWS, KC, ROWS), np.float32)
        panels = np.zeros((-(-n // COLUMNS), KC, COLUMNS), np.float32)
        tile = np.empty(ROWS * COLUMNS, np.float32)
        c[:, :] = float32(0)
        for pc in range(0, k, KC):
            kc = min(KC, k - pc)
            pack_panels(b[pc : pc + kc], panels)
            for ic in range(0, m, MC):
                mc = min(MC, m - ic)
                pack_panels(a[ic : ic + mc, pc : pc + kc].T, block)
                for jr in range(0, n, COLUMNS):
                    panel = panels[jr // COLUMNS].ravel()[: kc * COLUMNS]
                    for ir in range(0, mc, ROWS):
                        micro_kernel(block[ir // ROWS].ravel()[: kc * ROWS], panel, tile)
                        for row in range(min(ROWS, m - ic - ir)):
                            for col in range(min(COLUMNS, n - jr)):
                                c[ic + ir + row, jr + col] += tile[row * COLUMNS + col]

    return product


def calls_of(micro_kernel: Callable) -> Callable:
    """Return a compiled function (a, b, c) that calls a micro-kernel CALLS times on one tile."""

    @njit
    def calls(a, b, c):
        for _ in range(CALLS):
            micro_kernel(a, b, c)

    return calls


def rates(*micro_kernels: Callable, size: int = 256) -> Rates:
    """Measure and return the rates of micro-kernels, size×size products, NumPy and an FMA loop.

    All run on one core. Raises CourseError if a product is wrong, because a wrong product has no
    speed.
    """
    shape = GemmShape(size, size, size)
    inputs = draw("integers", (size, size), 1), draw("integers", (size, size), 2)
    out, products = np.empty((size, size), np.float32), [*map(product_with, micro_kernels)]
    for product in products:
        product(*inputs, out)
        if not np.array_equal(out, inputs[0] @ inputs[1]):
            raise CourseError(
                f"With this micro-kernel the product at {shape} is wrong: `check` says why."
            )
    panels = [np.ones(KC * width, np.float32) for width in (ROWS, COLUMNS)]
    tile = np.empty(ROWS * COLUMNS, np.float32)
    rivals = [partial(calls_of(one), *panels, tile) for one in micro_kernels]
    rivals += [partial(product, *inputs, out) for product in products]
    rivals += [fma_loop(COLUMNS), NUMPY_BLAS.bind(inputs, out)]
    for rival in rivals[: len(products)]:
        rival()  # compiles it
    *own, loop, numpy = (one.min_ms for one in time_cpu(rivals, REPETITIONS, REPETITION_MS))
    flops = CALLS * 2 * ROWS * COLUMNS * KC
    return Rates(
        alone=tuple(flops / ms / 1e6 for ms in own[: len(products)]),
        products=tuple(shape.flops / ms / 1e6 for ms in own[len(products) :]),
        fma_loop=fma_loop_flops(COLUMNS) / loop / 1e6,
        numpy=shape.flops / numpy / 1e6,
    )
