"""8 rows of 3 vectors of 16: 24 sums in registers that no compiler loop would keep there."""

from functools import cache

from numba import float32, njit

from gemm_kernels.cpu.engine.five_loops import (
    five_loops,
    prefetch_row,
    row_reader,
    row_writer,
    workspace,
)
from utils.intrinsics.simd import broadcast, fmadd_row, pointer, zero_row
from utils.ladder.step import Step
from utils.ladder.tasks import GEMM

ROWS, LANES, VECTORS = 8, 16, 3


def tile_of(vectors, packs):
    read, write = row_reader(LANES, vectors, packs), row_writer(LANES, vectors)

    @njit(error_model="numpy")
    def tile_8x48(depth, a, lda, b, ldb, panel, alpha, beta, c, ldc, height, width):
        for i in range(ROWS):
            prefetch_row(c, i * ldc, LANES * vectors)
        c0 = c1 = c2 = c3 = c4 = c5 = c6 = c7 = zero_row(LANES, vectors)
        # Rows that a does not have repeat the last one: their results are never stored.
        last = height - 1
        a1 = pointer(a, min(1, last) * lda)
        a2 = pointer(a, min(2, last) * lda)
        a3 = pointer(a, min(3, last) * lda)
        a4 = pointer(a, min(4, last) * lda)
        a5 = pointer(a, min(5, last) * lda)
        a6 = pointer(a, min(6, last) * lda)
        a7 = pointer(a, min(7, last) * lda)
        for p in range(depth):
            # 24 sums, 3 vectors of b and one element of a take 28 of the 32 registers. For 24
            # multiply-adds there are 11 loads, and the processor can start as many of each.
            row = read(b, ldb, panel, p, width)
            c0 = fmadd_row(broadcast(a, p, LANES), row, c0)
            c1 = fmadd_row(broadcast(a1, p, LANES), row, c1)
            c2 = fmadd_row(broadcast(a2, p, LANES), row, c2)
            c3 = fmadd_row(broadcast(a3, p, LANES), row, c3)
            c4 = fmadd_row(broadcast(a4, p, LANES), row, c4)
            c5 = fmadd_row(broadcast(a5, p, LANES), row, c5)
            c6 = fmadd_row(broadcast(a6, p, LANES), row, c6)
            c7 = fmadd_row(broadcast(a7, p, LANES), row, c7)
        write(c, ldc, 0, alpha, c0, beta, height, width)
        write(c, ldc, 1, alpha, c1, beta, height, width)
        write(c, ldc, 2, alpha, c2, beta, height, width)
        write(c, ldc, 3, alpha, c3, beta, height, width)
        write(c, ldc, 4, alpha, c4, beta, height, width)
        write(c, ldc, 5, alpha, c5, beta, height, width)
        write(c, ldc, 6, alpha, c6, beta, height, width)
        write(c, ldc, 7, alpha, c7, beta, height, width)

    return tile_8x48


@cache
def multiplication():
    """The function that `five_loops` describes, with blocks for the caches of this machine."""
    return five_loops(tile_of, ROWS, LANES, VECTORS)


@cache
def build():
    multiply, memory = multiplication(), workspace()
    address, room = memory.ctypes.data, memory.shape[1]

    @njit
    def micro_kernel_avx512(a, b, c):
        (m, k), n = a.shape, b.shape[1]
        x, y, z = pointer(a.ravel(), 0), pointer(b.ravel(), 0), pointer(c.ravel(), 0)
        # Flaw: one core works, and all others wait.
        multiply(m, n, k, float32(1), x, k, 1, y, n, 1, float32(0), z, n, address, room)

    return micro_kernel_avx512


STEP = Step(
    module=__name__,
    name="micro_kernel_avx512",
    idea="8×48 of c in 24 registers of 16 lanes; the same five loops",
    previous="micro_kernel_avx2",
    task=GEMM,
    build=build,
)
