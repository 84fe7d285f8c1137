"""Four neighbouring columns per thread, and a word of a that is loaded for nothing."""

from numba import cuda, float32, uint32


@cuda.jit
def four_columns(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    row = uint32(cuda.blockIdx.y * 8 + cuda.threadIdx.y)
    col = uint32(cuda.blockIdx.x * 128 + 4 * cuda.threadIdx.x)
    if row >= m or col >= n:
        return
    unused = a[row, 0]
    totals = cuda.local.array(4, float32)
    for j in range(4):
        totals[j] = float32(0)
    for i in range(k):
        from_a = a[row, i]
        for j in range(4):
            if col + j < n:
                totals[j] += from_a * b[i, col + j]
    for j in range(4):
        if col + j < n:
            c[row, col + j] = totals[j]
