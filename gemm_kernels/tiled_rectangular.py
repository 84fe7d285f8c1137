"""Tiles of BM×BK and BK×BN, whose depth no longer depends on the shape of the block."""

from functools import cache

from numba import cuda, float32, uint32

from gemm_kernels.parts.blocks import element
from utils.division import cdiv
from utils.ladder.step import Budget, Launch, Step
from utils.ladder.tasks import GEMM

# The number of unrolled steps of k: four neighbours of a row of a's tile are one 128-bit read.
UNROLL = 4


@cache
def build(BM, BN, BK):
    """Return the kernel (a, b, c) that computes c = a·b, with BM×BN of c per block.

    A tile has BK steps of k. A block has BM×BN threads, and each computes one element of c.
    """
    THREADS = BM * BN
    LOADS_A, LOADS_B = BM * BK // THREADS, BK * BN // THREADS

    # Threads loop over tiles of any shape, so a tile can be deeper than the block is wide, with
    # fewer barriers; flaw: as in tiled, two reads from shared memory feed one multiply-add.
    @cuda.jit
    def tiled_rectangular(a, b, c):
        m, k = a.shape
        n = b.shape[1]
        sa = cuda.shared.array((BM, BK), float32, alignment=16)
        sb = cuda.shared.array((BK, BN), float32)
        t = uint32(cuda.threadIdx.x)
        row, col = uint32(cuda.blockIdx.y * BM), uint32(cuda.blockIdx.x * BN)
        y, x = t // BN, t % BN

        total = float32(0)
        for start in range(0, k, BK):
            # Element e of a tile is in its row e // width: neighbours load neighbours.
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
                    total += sa[y, z + u] * sb[z + u, x]
                z = uint32(z + UNROLL)
            cuda.syncthreads()

        if row + y < m and col + x < n:
            c[row + y, col + x] = total

    return tiled_rectangular


def launch(shape, BM, BN, BK):
    """Return a launch with one block of BM×BN threads per BM×BN tile of c.

    The block has one axis. Axis x of the grid counts tiles along n, and axis y along m. BK has no
    influence on it.
    """
    return Launch(grid=(cdiv(shape.n, BN), cdiv(shape.m, BM)), block=(BM * BN,))


STEP = Step(
    module=__name__,
    name="tiled_rectangular",
    idea="tiles of BM×BK and BK×BN: the threads walk through them, whatever their shape",
    previous="tiled",
    task=GEMM,
    build=build,
    launch=launch,
    choices={"BM": (32, 16), "BN": (32,), "BK": (64, 32)},
    budget=Budget(registers=64, global_bits=32, shared_bits=128, ffma_share=0.25),
)
