from numba import cuda, float32

@cuda.jit
def unroll(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    col, row = cuda.grid(2)
    if row >= m or col >= n:
        return
    total = float32(0)
    if m == 32 and n == 64 and k == 24:
        for start in range(0, k, 4):
            for j in range(4):
                total += a[row, start + j] * b[start + j, col]
    else:
        for i in range(k):
            total += a[row, i] * b[i, col]
    c[row, col] = total
