from numba import cuda, float32


@cuda.jit
def cut_along_k(a, b, partials):
    (m, k), n = a.shape, b.shape[1]
    col, row = cuda.grid(2)
    piece = cuda.blockIdx.z
    if row < m and col < n:
        total = float32(0)
        for i in range(k):
            if piece * k // 4 <= i and i < (piece + 1) * k // 4:
                total += a[row, i] * b[i, col]
        partials[piece, row, col] = total
