from numba import cuda, float32


@cuda.jit
def unroll(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    col, row = cuda.grid(2)
    if row < m and col < n:
        total = float32(0)
        for i in range(0, k, 4):
            for j in range(4):
                z = min(i + j, k - 1)
                total += a[row, z] * b[z, col] * float32(i + j < k)
        c[row, col] = total
