"""One warp multiplies 16×8 by 8×8 with one instruction."""

from numba import cuda, float32, uint32
from numba.types import float16

from utils.intrinsics.tensor import mma_m16n8k8


@cuda.jit
def one_mma(a, b, c):
    sums = cuda.local.array(4, float32)
    of_a = cuda.local.array(4, float16)
    of_b = cuda.local.array(2, float16)
    lane = uint32(cuda.threadIdx.x)
    row, col = uint32(cuda.blockIdx.y * 16), uint32(cuda.blockIdx.x * 8)
    group, pair = lane // 4, lane % 4 * 2
    for i in range(4):
        sums[i] = float32(0)
    for i in range(2):
        of_b[i] = b[pair + i, col + group]
    for i in range(4):
        of_a[i] = a[row + group + i // 2 * 8, pair + i % 2]
    mma_m16n8k8(sums, of_a, of_b)
    for i in range(4):
        c[row + group + i // 2 * 8, col + pair + i % 2] = sums[i]
