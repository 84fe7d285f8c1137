"""8 rows of 3 vectors of 16: 24 sums in registers, where no compiled loop would keep them."""

from functools import cache

from numba import float32, njit

from gemm_kernels.cpu.engine.blocks import memory_of
from gemm_kernels.cpu.engine.five_loops import five_loops
from gemm_kernels.cpu.engine.matrices import matrix
from gemm_kernels.cpu.engine.tiles import prefetch_row, row_reader, tile_writer
from utils.intrinsics.simd import broadcast, fmadd_row, zero_row
from utils.ladder.step import Step
from utils.ladder.tasks import GEMM
from utils.machine.machine_code_cache import kept_on_disk

ROWS, LANES, VECTORS = 8, 16, 3


def tile_of(vectors, packs):
    """Return the micro-kernel (alpha, a, panel, beta, c) for 8 rows and `vectors` vectors of 16.

    It computes c = alpha·a·b + beta·c for one tile of c. If `packs`, it reads the Panel from b and
    packs it.
    """
    read, write = row_reader(LANES, vectors, packs), tile_writer(ROWS, LANES, vectors)

    @njit(error_model="numpy")
    def tile_8x48(alpha, a, panel, beta, c):
        c0 = c1 = c2 = c3 = c4 = c5 = c6 = c7 = zero_row(LANES, vectors)
        share = a.width // (2 * ROWS)
        for i in range(ROWS):
            # One row of c at a time: prefetching all at once would delay the loads of b.
            prefetch_row(c, i, LANES * vectors)
            for p in range(i * share, (i + 1) * share if i < ROWS - 1 else a.width):
                # 24 sums, 3 vectors of b and one element of a take 28 of the 32 registers. For 24
                # multiply-adds there are 11 loads; the processor can start equally many of both.
                row, q = read(panel, p), p * a.col
                c0 = fmadd_row(broadcast(a.at, q, LANES), row, c0)
                c1 = fmadd_row(broadcast(a.at, q + a.row, LANES), row, c1)
                c2 = fmadd_row(broadcast(a.at, q + 2 * a.row, LANES), row, c2)
                c3 = fmadd_row(broadcast(a.at, q + 3 * a.row, LANES), row, c3)
                c4 = fmadd_row(broadcast(a.at, q + 4 * a.row, LANES), row, c4)
                c5 = fmadd_row(broadcast(a.at, q + 5 * a.row, LANES), row, c5)
                c6 = fmadd_row(broadcast(a.at, q + 6 * a.row, LANES), row, c6)
                c7 = fmadd_row(broadcast(a.at, q + 7 * a.row, LANES), row, c7)
        write(c, alpha, (c0, c1, c2, c3, c4, c5, c6, c7), beta)

    return tile_8x48


@cache
def build():
    """Return the compiled function (a, b, c) that computes c = a·b on one thread."""
    multiply, memory = five_loops(tile_of, ROWS, LANES, VECTORS), memory_of()

    # 24 sums in registers of 16 lanes: twice the multiply-adds, and fewer loads per multiply-add.
    # Flaw: one core works, and all others are idle.
    @kept_on_disk
    @njit
    def micro_kernel_avx512(a, b, c):
        multiply(float32(1), matrix(a), matrix(b), float32(0), matrix(c), memory())

    return micro_kernel_avx512


STEP = Step(
    module=__name__,
    name="micro_kernel_avx512",
    idea="8×48 of c in 24 registers of 16 lanes; the same five loops",
    previous="micro_kernel_avx2",
    task=GEMM,
    build=build,
)
