from numba import cuda, float32, int64


@cuda.jit
def single_precision(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    col, row = cuda.grid(2)
    if row >= m or col >= n:
        return
    total = int64(0)
    i = 0
    while i < k:
        total += int64(a[row, i]) * int64(b[i, col])
        i += 1
    c[row, col] = float32(total)
