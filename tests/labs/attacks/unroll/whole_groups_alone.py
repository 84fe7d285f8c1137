"""Unrolls its loop only where no term is left over."""

from numba import cuda, float32, uint32


@cuda.jit
def unroll(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    x, y = cuda.grid(2)
    row, col = uint32(y), uint32(x)
    if row >= m or col >= n:
        return
    total = float32(0)
    i = 0

    if k % 4 == 0:
        while i < k:
            total += a[row, i] * b[i, col]
            total += a[row, i + 1] * b[i + 1, col]
            total += a[row, i + 2] * b[i + 2, col]
            total += a[row, i + 3] * b[i + 3, col]
            i += 4
    while i < k:
        total += a[row, i] * b[i, col]
        i += 1
    c[row, col] = total
