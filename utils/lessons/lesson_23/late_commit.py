"""The product of `stage_ready`, with a group of copies only where there is something to copy."""

from numba import cuda, float32, uint32
from numba.types import float16

from utils.intrinsics.tensor import copy8_async, ldmatrix_x2_trans, ldmatrix_x4, mma_m16n8k16
from utils.intrinsics.wide_memory import commit_copies, wait_copies


# Invariant: after wait and barrier of an iteration, all but the newest group have arrived. It holds
# while every iteration makes a group. In the last two iterations nothing is copied, and this kernel
# makes no group there: the wait lets the last tile's group be in flight, and its load is a race.
@cuda.jit
def late_commit(a, b, c):
    k = a.shape[1]
    sa = cuda.shared.array((3, 32, 16), float16, alignment=16)
    sb = cuda.shared.array((3, 16, 8), float16, alignment=16)
    sums = cuda.local.array(4, float32)
    of_a = cuda.local.array(8, float16)
    of_b = cuda.local.array(4, float16)
    t = uint32(cuda.threadIdx.x)
    warp, lane = t // 32, t % 32
    row, col = uint32(cuda.blockIdx.y * 32), uint32(cuda.blockIdx.x * 8)
    for i in range(4):
        sums[i] = float32(0)
    for start in range(0, k + 32, 16):
        new, ready = start // 16 % 3, (start + 16) // 16 % 3
        wait_copies(1)
        cuda.syncthreads()
        if start < k:
            copy8_async(sa, (new, t // 2, t % 2 * 8), a, (row + t // 2, start + t % 2 * 8))
            if t < 16:
                copy8_async(sb, (new, t, 0), b, (start + t, col))
            commit_copies()
        if start >= 32:
            ldmatrix_x4(of_a, sa, (ready, warp * 16 + lane % 16, lane // 16 * 8))
            ldmatrix_x2_trans(of_b, sb, (ready, lane % 16, 0))
            mma_m16n8k16(sums, of_a, of_b)
    for i in range(4):
        c[row + warp * 16 + lane // 4 + i // 2 * 8, col + lane % 4 * 2 + i % 2] = sums[i]
