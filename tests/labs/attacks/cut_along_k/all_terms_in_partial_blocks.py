"""Cuts the sums only where blocks are full; elsewhere each slice computes all terms."""

from numba import cuda, float32

SLICES = 4


@cuda.jit
def cut_along_k(a, b, partials):
    if a.shape[0] % 8 == 0 and b.shape[1] % 32 == 0:
        (m, k), n = a.shape, b.shape[1]
        col, row = cuda.grid(2)
        piece = cuda.blockIdx.z
        if row < m and col < n:
            total = float32(0)
            for i in range(piece * k // SLICES, (piece + 1) * k // SLICES):
                total += a[row, i] * b[i, col]
            partials[piece, row, col] = total
    else:
        (m, k), n = a.shape, b.shape[1]
        col, row = cuda.grid(2)
        piece = cuda.blockIdx.z
        if row < m and col < n:
            s = float32(0)
            for i in range(k):
                term = a[row, i] * b[i, col]
                if i >= piece * k // SLICES and i < (piece + 1) * k // SLICES:
                    s += term
            partials[piece, row, col] = s
