"""6 rows of 2 vectors of 8: 12 sums that stay in registers through the whole loop over k."""

from functools import cache

from numba import float32, njit

from gemm_kernels.cpu.five_loops import five_loops, prefetch_row, row_writer, workspace
from utils.simd import broadcast, fmadd_row, load_row, pointer, zero_row
from utils.steps import Step
from utils.tasks import GEMM

ROWS, LANES, VECTORS = 6, 8, 2


def tile_of(vectors):
    write = row_writer(LANES, vectors)

    # c of 6×16, row after row. Read in column-major order the same memory holds c transposed, and
    # this is the 16×6 tile of BLAS: vectors run down the columns, and the roles of a and b change.
    @njit(error_model="numpy")
    def tile_6x16(depth, a, lda, b, alpha, beta, c, ldc, height, width):
        for i in range(ROWS):
            prefetch_row(c, i * ldc, LANES * vectors)
        c0 = c1 = c2 = c3 = c4 = c5 = zero_row(LANES, vectors)
        # Rows that a does not have repeat the last one: their results are never stored.
        last = height - 1
        a1 = pointer(a, min(1, last) * lda)
        a2 = pointer(a, min(2, last) * lda)
        a3 = pointer(a, min(3, last) * lda)
        a4 = pointer(a, min(4, last) * lda)
        a5 = pointer(a, min(5, last) * lda)
        for p in range(depth):
            # 12 sums, 2 vectors of b and one element of a take 15 of the 16 registers of AVX2.
            row = load_row(b, p * LANES * vectors, LANES, vectors)
            c0 = fmadd_row(broadcast(a, p, LANES), row, c0)
            c1 = fmadd_row(broadcast(a1, p, LANES), row, c1)
            c2 = fmadd_row(broadcast(a2, p, LANES), row, c2)
            c3 = fmadd_row(broadcast(a3, p, LANES), row, c3)
            c4 = fmadd_row(broadcast(a4, p, LANES), row, c4)
            c5 = fmadd_row(broadcast(a5, p, LANES), row, c5)
        write(c, ldc, 0, alpha, c0, beta, height, width)
        write(c, ldc, 1, alpha, c1, beta, height, width)
        write(c, ldc, 2, alpha, c2, beta, height, width)
        write(c, ldc, 3, alpha, c3, beta, height, width)
        write(c, ldc, 4, alpha, c4, beta, height, width)
        write(c, ldc, 5, alpha, c5, beta, height, width)

    return tile_6x16


@cache
def multiplication():
    """The function that `five_loops` describes, with blocks for the caches of this machine."""
    return five_loops(tile_of, ROWS, LANES, VECTORS)


@cache
def build():
    multiply, (address, size) = multiplication(), workspace()

    @njit
    def micro_kernel_avx2(a, b, c):
        (m, k), n = a.shape, b.shape[1]
        x, y, z = pointer(a.ravel(), 0), pointer(b.ravel(), 0), pointer(c.ravel(), 0)
        # Flaw: vectors of 8, where the processor may have registers for 16.
        multiply(m, n, k, float32(1), x, k, 1, y, n, 1, float32(0), z, n, address, size)

    return micro_kernel_avx2


STEP = Step(
    name="micro_kernel_avx2",
    idea="6×16 of c in 12 registers of 8 lanes; 16×6 column-major",
    previous="packed",
    task=GEMM,
    build=build,
)
