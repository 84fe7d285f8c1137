"""4 rows of 3 vectors of 8: 12 sums that stay in registers, in blocks made for the caches.

Gray and others 2022 use 16×6 in column-major order, which is 24×4 here, and blocks of 64×256, which
here follow the caches of the processor.
"""

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

ROWS, LANES, VECTORS = 4, 8, 3


def tile_of(vectors, packs):
    """Return the micro-kernel (alpha, a, panel, beta, c) for 4 rows and `vectors` vectors of 8.

    It computes c = alpha·a·b + beta·c for one tile of c. If `packs`, it reads the Panel from b and
    packs it.
    """
    read, write = row_reader(LANES, vectors, packs), tile_writer(ROWS, LANES, vectors)

    @njit(error_model="numpy")
    def tile_4x24(alpha, a, panel, beta, c):
        c0 = c1 = c2 = c3 = zero_row(LANES, vectors)
        share = a.width // (2 * ROWS)
        for i in range(ROWS):
            # One row of c at a time: prefetching all at once would delay the loads of b.
            prefetch_row(c, i, LANES * vectors)
            for p in range(i * share, (i + 1) * share if i < ROWS - 1 else a.width):
                # 12 sums, 3 vectors of b and one element of a take all 16 registers of AVX2.
                row, q = read(panel, p), p * a.col
                c0 = fmadd_row(broadcast(a.at, q, LANES), row, c0)
                c1 = fmadd_row(broadcast(a.at, q + a.row, LANES), row, c1)
                c2 = fmadd_row(broadcast(a.at, q + 2 * a.row, LANES), row, c2)
                c3 = fmadd_row(broadcast(a.at, q + 3 * a.row, LANES), row, c3)
        write(c, alpha, (c0, c1, c2, c3), beta)

    return tile_4x24


@cache
def build():
    """Return the compiled function (a, b, c) that computes c = a·b on one thread."""
    multiply, memory = five_loops(tile_of, ROWS, LANES, VECTORS), memory_of()

    # 12 sums stay in registers, and the five loops of BLIS keep what they read in the caches.
    # Flaw: vectors of 8, although the processor may have registers for 16.
    @kept_on_disk
    @njit
    def micro_kernel_avx2(a, b, c):
        multiply(float32(1), matrix(a), matrix(b), float32(0), matrix(c), memory())

    return micro_kernel_avx2


STEP = Step(
    module=__name__,
    name="micro_kernel_avx2",
    idea="4×24 of c in 12 registers of 8 lanes; 24×4 column-major",
    previous="micro_kernel_4x24",
    task=GEMM,
    build=build,
)
