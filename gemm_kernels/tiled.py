"""A block of threads copies tiles of a and b into shared memory and reuses them TILE times."""

from functools import cache

from numba import cuda, float32, uint32

from utils.division import cdiv
from utils.ladder.step import Budget, Launch, Step
from utils.ladder.tasks import GEMM


@cache
def build(TILE):
    """Return the kernel (a, b, c) that computes c = a·b, with TILE×TILE threads per block.

    Each thread computes one element of c.
    """

    # A block loads each element into shared memory once, and all its threads read it there; flaw:
    # two reads from shared memory still feed one multiply-add.
    @cuda.jit
    def tiled(a, b, c):
        m, k = a.shape
        n = b.shape[1]
        sa = cuda.shared.array((TILE, TILE), float32)
        sb = cuda.shared.array((TILE, TILE), float32)
        tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        row = uint32(cuda.blockIdx.y * TILE + ty)
        col = uint32(cuda.blockIdx.x * TILE + tx)

        total = float32(0)
        # One iteration per tile: the cost of range() is spread over TILE multiply-adds.
        for start in range(0, k, TILE):
            # tx runs along a row of a and along a row of b, so both reads are coalesced.
            # Elements outside the matrices are loaded as zero and add nothing to the sum. No
            # thread may leave early at the edge: the others would wait for it at the barrier.
            sa[ty, tx] = a[row, start + tx] if row < m and start + tx < k else float32(0)
            sb[ty, tx] = b[start + ty, col] if start + ty < k and col < n else float32(0)
            # Every thread is about to read what other threads loaded: both tiles must be complete.
            cuda.syncthreads()

            # Each element that was loaded once is now read TILE times, from shared memory. With
            # TILE = 32 a warp is one row of the block: sb[i, tx] is in 32 different banks, and
            # sa[ty, i] is one address for all. No access waits for another.
            for i in range(TILE):
                # multi_output with 8 columns per thread needs 9 loads for 8 multiply-adds, and is
                # faster if the L1 cache serves loads as fast as shared memory does.
                total += sa[ty, i] * sb[i, tx]
            # The next tiles overwrite these: no thread may still be reading them.
            cuda.syncthreads()

        if row < m and col < n:
            c[row, col] = total

    return tiled


def launch(shape, TILE):
    """Return a launch with one block per TILE×TILE tile of c; tiles may extend beyond its edges.

    A block has TILE×TILE threads. Axis x of the grid counts tiles along n, and axis y along m.
    """
    return Launch(grid=(cdiv(shape.n, TILE), cdiv(shape.m, TILE)), block=(TILE, TILE))


STEP = Step(
    module=__name__,
    name="tiled",
    idea="tiles in shared memory: TILE times fewer global reads, but still two reads for each FMA",
    previous="naive",
    task=GEMM,
    build=build,
    launch=launch,
    choices={"TILE": (32, 16, 8)},
    budget=Budget(registers=40, global_bits=32, shared_bits=128, ffma_share=0.23),
)
