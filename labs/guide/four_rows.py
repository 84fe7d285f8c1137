"""Lesson 05, exercise 2: four elements of a column of c per thread, 8 rows apart."""

from numba import cuda, float32


@cuda.jit
def four_rows(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    row = cuda.blockIdx.y * 32 + cuda.threadIdx.y
    col = cuda.blockIdx.x * 32 + cuda.threadIdx.x
    if row >= m or col >= n:
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
