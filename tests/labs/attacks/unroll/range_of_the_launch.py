from numba import cuda, float32

@cuda.jit
def unroll(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    col, row = cuda.grid(2)
    if row >= m or col >= n:
        return
    total = float32(0)
    i = 0
    while i < k:
        for j in range(cuda.blockDim.y + 8):   # 16 turns, known at the launch alone
            if i + j < k:
                total += a[row, i + j] * b[i + j, col]
        i += 16
    c[row, col] = total
