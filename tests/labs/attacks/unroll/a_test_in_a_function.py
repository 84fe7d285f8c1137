from numba import cuda, float32


@cuda.jit(device=True)
def term(a, b, row, i, col):
    if i < a.shape[1]:
        return a[row, i] * b[i, col]
    return float32(0)


@cuda.jit
def unroll(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    col, row = cuda.grid(2)
    if row < m and col < n:
        total = float32(0)
        for i in range(0, k, 4):
            for j in range(4):
                total += term(a, b, row, i + j, col)
        c[row, col] = total
