"""The product with four elements of c per thread, a block's width apart."""

from numba import cuda, float32, uint32


@cuda.jit
def four_columns(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    row = uint32(cuda.blockIdx.y * 8 + cuda.threadIdx.y)
    col = uint32(cuda.blockIdx.x * 128 + cuda.threadIdx.x)
    if row >= m or col >= n:
        return
    totals = cuda.local.array(4, float32)
    for j in range(4):
        totals[j] = float32(0)
    i = 0
    while i < k:
        from_a = a[row, i]
        for j in range(4):
            if col + 32 * j < n:
                totals[j] += from_a * b[i, col + 32 * j]
        i += 1
    for j in range(4):
        if col + 32 * j < n:
            c[row, col + 32 * j] = totals[j]
