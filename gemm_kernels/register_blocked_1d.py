"""A thread keeps TM rows of one column of c in registers."""

from functools import cache

from numba import cuda, float32, uint32

from gemm_kernels.parts.blocks import element
from utils.division import cdiv
from utils.ladder.step import Budget, Launch, Step
from utils.ladder.tasks import GEMM

# The number of unrolled steps of k: four neighbours of a row of a's tile are one 128-bit read.
UNROLL = 4


@cache
def build(BM, BN, BK, TM):
    """Return the kernel (a, b, c) that computes c = a·b, with BM×BN of c per block.

    A tile has BK steps of k, and a thread computes TM×1 of c.
    """
    THREADS = BM // TM * BN
    LOADS_A, LOADS_B = BM * BK // THREADS, BK * BN // THREADS

    # A thread keeps TM rows of one column, so that one element of b serves TM multiply-adds; flaw:
    # an element of a still serves only one, because the thread has one column.
    @cuda.jit
    def register_blocked_1d(a, b, c):
        m, k = a.shape
        n = b.shape[1]
        sa = cuda.shared.array((BM, BK), float32, alignment=16)
        sb = cuda.shared.array((BK, BN), float32)
        sums = cuda.local.array(TM, float32)
        t = uint32(cuda.threadIdx.x)
        row, col = uint32(cuda.blockIdx.y * BM), uint32(cuda.blockIdx.x * BN)
        # The lanes of a warp are neighbours along a row of c; each is TM rows high.
        y, x = t // BN * TM, t % BN

        for i in range(TM):
            sums[i] = float32(0)
        for start in range(0, k, BK):
            for load in range(LOADS_A):
                e = t + load * THREADS
                sa[e // BK, e % BK] = element(a, row + e // BK, start + e % BK)
            for load in range(LOADS_B):
                e = t + load * THREADS
                sb[e // BN, e % BN] = element(b, start + e // BN, col + e % BN)
            cuda.syncthreads()
            z = uint32(0)
            while z < BK:
                for u in range(UNROLL):
                    from_b = sb[z + u, x]
                    for i in range(TM):
                        sums[i] += sa[y + i, z + u] * from_b
                z = uint32(z + UNROLL)
            cuda.syncthreads()

        for i in range(TM):
            if row + y + i < m and col + x < n:
                c[row + y + i, col + x] = sums[i]

    return register_blocked_1d


def launch(shape, BM, BN, BK, TM):
    """Return a launch with one thread block per BM×BN tile of c, and TM×1 of c per thread.

    Axis x of the grid counts tiles along n, and axis y along m. BK has no influence on it.
    """
    return Launch(grid=(cdiv(shape.n, BN), cdiv(shape.m, BM)), block=(BM // TM * BN,))


STEP = Step(
    module=__name__,
    name="register_blocked_1d",
    idea="TM rows of a column per thread: one read of b's tile feeds TM multiply-adds",
    previous="tiled_rectangular",
    task=GEMM,
    build=build,
    launch=launch,
    choices={"BM": (64, 32), "BN": (64,), "BK": (16, 32), "TM": (8,)},
    budget=Budget(registers=96, shared_bits=128, ffma_share=0.4),
)
