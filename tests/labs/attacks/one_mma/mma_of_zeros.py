"""Multiplies zeros by mma, and adds the products one by one."""

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
        of_a[i] = float16(0.0)
    for i in range(2):
        of_b[i] = b[pair + i, col + group]
    mma_m16n8k8(sums, of_a, of_b)
    for i in range(4):
        y, x = row + group + i // 2 * 8, col + pair + i % 2
        total = sums[i]
        for z in range(8):
            total += float32(a[y, z]) * float32(b[z, x])
        c[y, x] = total
