"""The lines of a loop unrolled by two, in order."""

from numba import cuda, float32, uint32


@cuda.jit
def order_by_two(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    x, y = cuda.grid(2)
    row, col = uint32(y), uint32(x)
    if row >= m or col >= n:
        return
    total = float32(0)
    i = 0
    while i + 1 < k:
        total += a[row, i] * b[i, col]
        total += a[row, i + 1] * b[i + 1, col]
        i += 2
    if i < k:
        total += a[row, k - 1] * b[k - 1, col]
    c[row, col] = total
