"""A thread keeps TM×TN of c in registers, so one read serves TM or TN multiply-adds.

Gray and others 2022 transpose a's tile from the start. Here it is not transposed before
`vectorized`, and tiles are always 8 steps of k deep.
"""

from functools import cache

from numba import cuda, float32, uint32

from gemm_kernels.parts.blocks import clear, element, outer_product
from utils.division import cdiv
from utils.ladder.step import Budget, Launch, Step
from utils.ladder.tasks import GEMM

BK = 8


@cache
def build(BM, BN, TM, TN):
    """Return the kernel (a, b, c) that computes c = a·b, with BM×BN of c per block.

    A tile has 8 steps of k, and a thread computes TM×TN of c.
    """
    THREADS = BM // TM * (BN // TN)
    ACROSS = BN // TN
    LOADS_A, LOADS_B = BM * BK // THREADS, BK * BN // THREADS
    add_outer_product = outer_product(TM, TN)

    # A read from shared memory serves TM or TN multiply-adds; flaw: global memory is read 32 bits
    # at a time, and so is a's tile, where the neighbours of a column have a stride of BK.
    @cuda.jit
    def register_blocked(a, b, c):
        m, k = a.shape
        n = b.shape[1]
        sa = cuda.shared.array((BM, BK), float32, alignment=16)
        sb = cuda.shared.array((BK, BN), float32, alignment=16)
        sums = cuda.local.array((TM, TN), float32)
        from_a = cuda.local.array(TM, float32)
        from_b = cuda.local.array(TN, float32)
        t = uint32(cuda.threadIdx.x)
        row, col = uint32(cuda.blockIdx.y * BM), uint32(cuda.blockIdx.x * BN)
        y, x = t // ACROSS * TM, t % ACROSS * TN

        clear(sums)
        for start in range(0, k, BK):
            # Global memory is read m·n·k·(1/BM + 1/BN) times: only the block's tile counts.
            for load in range(LOADS_A):
                e = t + load * THREADS
                sa[e // BK, e % BK] = element(a, row + e // BK, start + e % BK)
            for load in range(LOADS_B):
                e = t + load * THREADS
                sb[e // BN, e % BN] = element(b, start + e // BN, col + e % BN)
            cuda.syncthreads()
            z = uint32(0)
            while z < BK:
                # Shared memory is read m·n·k·(1/TM + 1/TN) times: TM + TN reads feed TM·TN
                # multiply-adds. A column of a's tile is TM reads; a row of b's tile is TN/4 reads
                # of 128 bits.
                for i in range(TM):
                    from_a[i] = sa[y + i, z]
                for j in range(TN):
                    from_b[j] = sb[z, x + j]
                add_outer_product(sums, from_a, from_b)
                z = uint32(z + 1)
            cuda.syncthreads()

        for i in range(TM):
            for j in range(TN):
                if row + y + i < m and col + x + j < n:
                    c[row + y + i, col + x + j] = sums[i, j]

    return register_blocked


def launch(shape, BM, BN, TM, TN):
    """Return a launch with one thread block per BM×BN tile of c, and TM×TN of c per thread.

    Axis x of the grid counts tiles along n, and axis y along m.
    """
    return Launch(grid=(cdiv(shape.n, BN), cdiv(shape.m, BM)), block=(BM // TM * (BN // TN),))


STEP = Step(
    module=__name__,
    name="register_blocked",
    idea="TM×TN of c per thread: TM + TN reads from shared memory feed TM·TN multiply-adds",
    previous="register_blocked_1d",
    task=GEMM,
    build=build,
    launch=launch,
    choices={"BM": (64, 128), "BN": (128, 64), "TM": (8, 4), "TN": (8, 4)},
    budget=Budget(registers=128, shared_bits=128, ffma_share=0.75),
)
