"""A product whose tiles are copied two stages ahead, and read when they are complete."""

from numba import cuda, float32, uint32
from numba.types import float16

from utils.intrinsics.tensor import copy8_async, ldmatrix_x2_trans, ldmatrix_x4, mma_m16n8k16
from utils.intrinsics.wide_memory import commit_copies, wait_copies


@cuda.jit
def stage_ready(a, b, c):
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
        wait_copies(0)
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
