"""To be written: the product with its loop over k unrolled by 4."""

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
    # One term per iteration so far. Write about 10 lines instead of this loop:
    i = 0
    while i < k:
        total += a[row, i] * b[i, col]
        i += 1
    c[row, col] = total
