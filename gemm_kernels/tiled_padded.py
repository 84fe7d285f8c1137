"""The transposed tile of b gets one more column, so that 32 lanes read from 32 banks."""

from functools import cache

from numba import cuda, float32, uint32

from gemm_kernels import tiled
from utils.ladder.step import Budget, Step
from utils.ladder.tasks import GEMM


@cache
def build(TILE):
    """Return the kernel (a, b, c) that computes c = a·b, with TILE×TILE threads per block.

    Each thread computes one element of c.
    """
    PADDED = TILE + 1

    # One unused column shifts each row by a bank, so 32 lanes find 32 banks; flaw: as in tiled, two
    # reads from shared memory feed one multiply-add.
    @cuda.jit
    def tiled_padded(a, b, c):
        m, k = a.shape
        n = b.shape[1]
        sa = cuda.shared.array((TILE, TILE), float32)
        # Each row is one element longer than what is stored in it.
        sb = cuda.shared.array((TILE, PADDED), float32)
        tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        row = uint32(cuda.blockIdx.y * TILE + ty)
        col = uint32(cuda.blockIdx.x * TILE + tx)

        total = float32(0)
        for start in range(0, k, TILE):
            sa[ty, tx] = a[row, start + tx] if row < m and start + tx < k else float32(0)
            sb[tx, ty] = b[start + ty, col] if start + ty < k and col < n else float32(0)
            cuda.syncthreads()

            for i in range(TILE):
                # Lane tx reads element tx·33 + i: bank (tx + i) modulo 32, a different one each.
                total += sa[ty, i] * sb[tx, i]
            cuda.syncthreads()

        if row < m and col < n:
            c[row, col] = total

    return tiled_padded


STEP = Step(
    module=__name__,
    name="tiled_padded",
    idea="one unused column per row of the transposed tile: the bank conflicts are gone",
    previous="tiled_transposed",
    task=GEMM,
    build=build,
    launch=tiled.launch,
    choices={"TILE": (32,)},
    budget=Budget(registers=64, shared_bits=32, ffma_share=0.15),
)
