"""A block of threads copies tiles of a and b into shared memory and reuses them TILE times."""

from functools import cache

from numba import cuda, float32, uint32

from utils.ladder.step import Budget, Launch, Step
from utils.ladder.tasks import GEMM


@cache
def build(TILE):
    """The kernel for TILE×TILE threads, each of which computes one element of c."""

    # What a block loads once into shared memory all its threads read from there; flaw: two reads
    # from shared memory still feed one multiply-add.
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
        # One turn per tile: what range() costs is spread over TILE multiply-adds.
        for start in range(0, k, TILE):
            # tx runs along a row of a and along a row of b, so both reads are coalesced.
            # What lies outside the matrices is loaded as zero and adds nothing to the sum. No
            # thread may leave early at the edge: the others would miss it at the barrier.
            sa[ty, tx] = a[row, start + tx] if row < m and start + tx < k else float32(0)
            sb[ty, tx] = b[start + ty, col] if start + ty < k and col < n else float32(0)
            # Every thread is about to read what other threads loaded: both tiles must be complete.
            cuda.syncthreads()

            # Each element that was loaded once is now read TILE times, from shared memory. With
            # TILE = 32 a warp is one row of the block: sb[i, tx] lies in 32 different banks, and
            # sa[ty, i] is one address for all. No access waits for another.
            for i in range(TILE):
                # multi_output with 8 columns a thread needs 9 loads for 8 multiply-adds, and is
                # ahead where the L1 cache serves them as fast.
                total += sa[ty, i] * sb[i, tx]
            # The next tiles replace these: nobody may still be reading them.
            cuda.syncthreads()

        if row < m and col < n:
            c[row, col] = total

    return tiled


def launch(shape, TILE):
    """Enough blocks to cover c, m×n, with tiles; the last ones may hang over the edge."""
    return Launch(grid=(-(-shape.n // TILE), -(-shape.m // TILE)), block=(TILE, TILE))


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
