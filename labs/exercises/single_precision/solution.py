"""The simplest product, whose sum is a float32."""

from numba import cuda, float32


@cuda.jit
def single_precision(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    col, row = cuda.grid(2)
    if row >= m or col >= n:
        return
    total = float32(0)
    i = 0
    while i < k:
        total += a[row, i] * b[i, col]
        i += 1
    c[row, col] = total
