"""One tile of a serves GRAIN tiles of b: a thread computes GRAIN elements of c with stride TILE.

Córdoba 2016 keeps GRAIN arrays, sb0, sb1 and so on; here one wide sb holds all tiles of b, and the
loop over k is unrolled by hand.
"""

from functools import cache

from numba import cuda, float32, uint32

from utils.division import cdiv
from utils.ladder.step import Budget, Launch, Step
from utils.ladder.tasks import GEMM

# The number of unrolled steps of k. All TILE of them would be too many for the compiler, which then
# unrolls two and spends more instructions on indices than on multiply-adds.
UNROLL = 8


@cache
def build(GRAIN, TILE):
    """Return the kernel (a, b, c) that computes c = a·b, with TILE×TILE threads per block.

    A block computes TILE×(GRAIN·TILE) of c, and a thread GRAIN elements with stride TILE.
    """
    WIDTH = GRAIN * TILE

    # A tile of a serves GRAIN tiles of b, so one read of it feeds GRAIN multiply-adds; flaw: each
    # of them still needs its own read of b's tile.
    @cuda.jit
    def granularity(a, b, c):
        m, k = a.shape
        n = b.shape[1]
        # Aligned to 16 bytes, so that four neighbours of a row are one 128-bit read.
        sa = cuda.shared.array((TILE, TILE), float32, alignment=16)
        sb = cuda.shared.array((TILE, WIDTH), float32)
        totals = cuda.local.array(GRAIN, float32)
        tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        row = uint32(cuda.blockIdx.y * TILE + ty)
        col = uint32(cuda.blockIdx.x * WIDTH + tx)

        # range() of a constant is unrolled, so that each element of totals is a register.
        for g in range(GRAIN):
            totals[g] = float32(0)
        for start in range(0, k, TILE):
            sa[ty, tx] = a[row, start + tx] if row < m and start + tx < k else float32(0)
            for g in range(GRAIN):
                inside = start + ty < k and col + g * TILE < n
                sb[ty, g * TILE + tx] = b[start + ty, col + g * TILE] if inside else float32(0)
            cuda.syncthreads()
            i = uint32(0)
            while i < TILE:
                for u in range(UNROLL):
                    # Elements of a are read from global memory GRAIN times less often, too.
                    from_a = sa[ty, i + u]
                    for g in range(GRAIN):
                        totals[g] += from_a * sb[i + u, g * TILE + tx]
                i = uint32(i + UNROLL)
            cuda.syncthreads()

        for g in range(GRAIN):
            if row < m and col + g * TILE < n:
                c[row, col + g * TILE] = totals[g]

    return granularity


def launch(shape, GRAIN, TILE):
    """Return a launch with blocks of TILE×TILE threads, one block per TILE×(GRAIN·TILE) of c.

    Axis x of the grid counts these tiles along n, and axis y along m.
    """
    grid = (cdiv(shape.n, GRAIN * TILE), cdiv(shape.m, TILE))
    return Launch(grid=grid, block=(TILE, TILE))


STEP = Step(
    module=__name__,
    name="granularity",
    idea="one tile of a serves GRAIN tiles of b: fewer reads from shared memory per FMA",
    previous="tiled",
    task=GEMM,
    build=build,
    launch=launch,
    choices={"GRAIN": (4, 2, 1), "TILE": (32, 16, 8)},
    budget=Budget(registers=64, shared_bits=128, ffma_share=0.4),
)
