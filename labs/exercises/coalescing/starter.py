"""To be repaired: the product whose lanes go down the columns."""

from numba import cuda, float32


@cuda.jit
def coalescing(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    x, y = cuda.grid(2)
    row, col = x, y
    if row >= m or col >= n:
        return
    total = float32(0)
    i = 0
    while i < k:
        total += a[row, i] * b[i, col]
        i += 1
    c[row, col] = total
