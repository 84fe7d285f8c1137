"""The lines of the product with four rows per thread in order."""

from numba import cuda, float32


@cuda.jit
def order_rows(a, b, c):
    m, n, k = a.shape[0], b.shape[1], a.shape[1]
    col = cuda.blockIdx.x * 32 + cuda.threadIdx.x
    row = cuda.blockIdx.y * 32 + cuda.threadIdx.y
    if col >= n:
        return
    totals = cuda.local.array(4, float32)
    for j in range(4):
        totals[j] = float32(0)
    for i in range(k):
        from_b = b[i, col]
        for j in range(4):
            if row + 8 * j < m:
                totals[j] += a[row + 8 * j, i] * from_b
    for j in range(4):
        if row + 8 * j < m:
            c[row + 8 * j, col] = totals[j]
