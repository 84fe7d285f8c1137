"""Uses its idea only where all blocks are full."""

from numba import cuda, float32, uint32


@cuda.jit
def four_columns(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    row = uint32(cuda.blockIdx.y * 8 + cuda.threadIdx.y)
    col = uint32(cuda.blockIdx.x * 128 + cuda.threadIdx.x)
    if row >= m:
        return
    if n % 128 == 0:
        t0, t1, t2, t3 = float32(0), float32(0), float32(0), float32(0)
        for i in range(k):
            x = a[row, i]
            t0 += x * b[i, col]
            t1 += x * b[i, col + 32]
            t2 += x * b[i, col + 64]
            t3 += x * b[i, col + 96]
        c[row, col] = t0
        c[row, col + 32] = t1
        c[row, col + 64] = t2
        c[row, col + 96] = t3
    else:
        for j in range(4):
            x = col + 32 * j
            if x < n:
                total = float32(0)
                for i in range(k):
                    total += a[row, i] * b[i, x]
                c[row, x] = total
