"""A product whose sums over k are cut in four slices, one per block along z."""

from numba import cuda, float32

SLICES = 4


@cuda.jit
def cut_along_k(a, b, partials):
    (m, k), n = a.shape, b.shape[1]
    col, row = cuda.grid(2)
    piece = cuda.blockIdx.z
    if row < m and col < n:
        total = float32(0)
        for i in range(piece * k // SLICES, (piece + 1) * k // SLICES):
            total += a[row, i] * b[i, col]
        partials[piece, row, col] = total
