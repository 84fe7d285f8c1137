"""Fewer threads with more work each: GRAIN rows of the same TILE×TILE tile of c per thread.

In Córdoba 2016, GRAIN = 16 is nine times slower than GRAIN = 8, on a K40. Here it is 1.7 times
slower, on an H200, and the cause that a comment below names need not be the same.
"""

from functools import cache

from numba import cuda, float32, uint32

from utils.division import cdiv
from utils.ladder.step import Budget, Launch, Step
from utils.ladder.tasks import GEMM

TILE = 32
# The number of unrolled steps of k: four neighbours of a row of a's tile are one 128-bit read.
UNROLL = 4


@cache
def build(GRAIN):
    """Return the kernel (a, b, c) that computes c = a·b, with TILE×(TILE/GRAIN) threads per block.

    A block computes TILE×TILE of c, and a thread GRAIN elements of one column.
    """
    ROWS = TILE // GRAIN

    # GRAIN sums that do not depend on each other keep the pipeline busy with fewer threads; flaw:
    # each element of a's tile is read for a single multiply-add.
    @cuda.jit
    def ilp(a, b, c):
        m, k = a.shape
        n = b.shape[1]
        sa = cuda.shared.array((TILE, TILE), float32, alignment=16)
        sb = cuda.shared.array((TILE, TILE), float32)
        totals = cuda.local.array(GRAIN, float32)
        tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        row = uint32(cuda.blockIdx.y * TILE + ty)
        col = uint32(cuda.blockIdx.x * TILE + tx)

        # range() of a constant is unrolled, so that every sum is a register.
        for g in range(GRAIN):
            totals[g] = float32(0)
        for start in range(0, k, TILE):
            # The tile is as large as before and the threads are fewer: each loads GRAIN rows of it.
            for g in range(GRAIN):
                y = ty + g * ROWS
                a_inside = row + g * ROWS < m and start + tx < k
                b_inside = start + y < k and col < n
                sa[y, tx] = a[row + g * ROWS, start + tx] if a_inside else float32(0)
                sb[y, tx] = b[start + y, col] if b_inside else float32(0)
            cuda.syncthreads()
            i = uint32(0)
            while i < TILE:
                # The cliff at GRAIN = 16: 64 multiply-adds are more than the compiler unrolls. It
                # keeps this loop, so 17 reads feed 16 multiply-adds; for GRAIN = 8, 48 feed 128.
                for u in range(UNROLL):
                    # GRAIN independent multiply-adds: one thread keeps the pipeline busy, for which
                    # a kernel with one sum per thread needs many threads.
                    from_b = sb[i + u, tx]
                    for g in range(GRAIN):
                        totals[g] += sa[ty + g * ROWS, i + u] * from_b
                i = uint32(i + UNROLL)
            cuda.syncthreads()

        for g in range(GRAIN):
            if row + g * ROWS < m and col < n:
                c[row + g * ROWS, col] = totals[g]

    return ilp


def launch(shape, GRAIN):
    """Return a launch with one block of TILE×(TILE/GRAIN) threads per TILE×TILE tile of c.

    Axis x of the grid counts tiles along n, and axis y along m.
    """
    return Launch(grid=(cdiv(shape.n, TILE), cdiv(shape.m, TILE)), block=(TILE, TILE // GRAIN))


STEP = Step(
    module=__name__,
    name="ilp",
    idea="fewer threads with GRAIN independent sums each: parallelism within the thread",
    previous="granularity",
    task=GEMM,
    build=build,
    launch=launch,
    choices={"GRAIN": (8, 16, 4, 2, 1)},
    budget=Budget(registers=112, shared_bits=128, ffma_share=0.63),
)
