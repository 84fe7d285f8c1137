"""The tile of b is kept transposed in shared memory, so 32 lanes conflict in one bank."""

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

    # Rows and columns of b's tile are exchanged, so that a thread reads neighbours, which suits a
    # CPU; flaw: the 32 lanes of a warp then read from one bank.
    @cuda.jit
    def tiled_transposed(a, b, c):
        m, k = a.shape
        n = b.shape[1]
        sa = cuda.shared.array((TILE, TILE), float32)
        sb = cuda.shared.array((TILE, TILE), float32)
        tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        row = uint32(cuda.blockIdx.y * TILE + ty)
        col = uint32(cuda.blockIdx.x * TILE + tx)

        total = float32(0)
        for start in range(0, k, TILE):
            sa[ty, tx] = a[row, start + tx] if row < m and start + tx < k else float32(0)
            # The lanes of this store have a stride of TILE elements, too.
            sb[tx, ty] = b[start + ty, col] if start + ty < k and col < n else float32(0)
            cuda.syncthreads()

            for i in range(TILE):
                # Lane tx reads element tx·32 + i, and the bank of an element is its number modulo
                # 32. All 32 lanes read different words of bank i: 32 wavefronts instead of 1.
                total += sa[ty, i] * sb[tx, i]
            cuda.syncthreads()

        if row < m and col < n:
            c[row, col] = total

    return tiled_transposed


STEP = Step(
    module=__name__,
    name="tiled_transposed",
    idea="the tile of b stored transposed: slower, because 32 lanes meet in one bank",
    previous="tiled",
    task=GEMM,
    build=build,
    launch=tiled.launch,
    choices={"TILE": (32,)},
    budget=Budget(registers=64, shared_bits=32, ffma_share=0.15),
)
