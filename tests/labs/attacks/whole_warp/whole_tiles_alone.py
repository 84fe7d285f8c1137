"""Uses its idea only where tiles fill all sizes."""

from numba import cuda, float32, uint32
from numba.types import float16

from utils.intrinsics.tensor import mma_m16n8k8


@cuda.jit
def whole_warp(a, b, c):
    if a.shape[0] % 16 == 0 and b.shape[1] % 8 == 0 and a.shape[1] % 8 == 0:
        m, n, k = a.shape[0], b.shape[1], a.shape[1]
        sums = cuda.local.array(4, float32)
        of_a = cuda.local.array(4, float16)
        of_b = cuda.local.array(2, float16)
        lane = uint32(cuda.threadIdx.x)
        group, pair = lane // 4, lane % 4 * 2
        row, col = uint32(cuda.blockIdx.y * 16), uint32(cuda.blockIdx.x * 8)
        for i in range(4):
            sums[i] = float32(0)
        for start in range(0, k, 8):
            for i in range(4):
                y, z = row + group + i // 2 * 8, start + pair + i % 2
                of_a[i] = a[y, z] if y < m and z < k else float16(0.0)
            for i in range(2):
                z, x = start + pair + i, col + group
                of_b[i] = b[z, x] if z < k and x < n else float16(0.0)
            mma_m16n8k8(sums, of_a, of_b)
        for i in range(4):
            y, x = row + group + i // 2 * 8, col + pair + i % 2
            if y < m and x < n:
                c[y, x] = sums[i]
    else:
        for e in range(cuda.threadIdx.x, 16 * 8, 32):
            r, q = cuda.blockIdx.y * 16 + e // 8, cuda.blockIdx.x * 8 + e % 8
            if r >= a.shape[0] or q >= b.shape[1]:
                continue
            s = float32(0)
            for p in range(a.shape[1]):
                s += float32(a[r, p]) * float32(b[p, q])
            c[r, q] = s
