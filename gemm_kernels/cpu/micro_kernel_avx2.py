"""4 rows of 3 vectors of 8: 12 sums that stay in registers through the whole loop over k."""

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

ROWS, LANES, VECTORS = 4, 8, 3


def tile_of(vectors, packs):
    read, write = row_reader(LANES, vectors, packs), row_writer(LANES, vectors)

    # c of 4×24, row after row. Read in column-major order the same memory holds c transposed, and
    # this is the 24×4 tile of BLAS: vectors run down the columns, and the roles of a and b change.
    @njit(error_model="numpy")
    def tile_4x24(depth, a, lda, b, ldb, panel, alpha, beta, c, ldc, height, width):
        for i in range(ROWS):
            prefetch_row(c, i * ldc, LANES * vectors)
        c0 = c1 = c2 = c3 = zero_row(LANES, vectors)
        # Rows that a does not have repeat the last one: their results are never stored.
        last = height - 1
        a1 = pointer(a, min(1, last) * lda)
        a2 = pointer(a, min(2, last) * lda)
        a3 = pointer(a, min(3, last) * lda)
        for p in range(depth):
            # 12 sums, 3 vectors of b and one element of a take all 16 registers of AVX2.
            row = read(b, ldb, panel, p, width)
            c0 = fmadd_row(broadcast(a, p, LANES), row, c0)
            c1 = fmadd_row(broadcast(a1, p, LANES), row, c1)
            c2 = fmadd_row(broadcast(a2, p, LANES), row, c2)
            c3 = fmadd_row(broadcast(a3, p, LANES), row, c3)
        write(c, ldc, 0, alpha, c0, beta, height, width)
        write(c, ldc, 1, alpha, c1, beta, height, width)
        write(c, ldc, 2, alpha, c2, beta, height, width)
        write(c, ldc, 3, alpha, c3, beta, height, width)

    return tile_4x24


@cache
def multiplication():
    """The function that `five_loops` describes, with blocks for the caches of this machine."""
    return five_loops(tile_of, ROWS, LANES, VECTORS)


@cache
def build():
    multiply, memory = multiplication(), workspace()
    address, room = memory.ctypes.data, memory.shape[1]

    @njit
    def micro_kernel_avx2(a, b, c):
        (m, k), n = a.shape, b.shape[1]
        x, y, z = pointer(a.ravel(), 0), pointer(b.ravel(), 0), pointer(c.ravel(), 0)
        # Flaw: vectors of 8, where the processor may have registers for 16.
        multiply(m, n, k, float32(1), x, k, 1, y, n, 1, float32(0), z, n, address, room)

    return micro_kernel_avx2


STEP = Step(
    module=__name__,
    name="micro_kernel_avx2",
    idea="4×24 of c in 12 registers of 8 lanes; 24×4 column-major",
    previous="packed",
    task=GEMM,
    build=build,
)
