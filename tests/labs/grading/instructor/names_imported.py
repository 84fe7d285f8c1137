"""Functions are imported by their names."""

from numba import cuda, float32
from numba.cuda import grid, jit

TILE = 16


@jit
def tiling(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = grid(2)
    total = float32(0)
    for start in range(0, k, TILE):
        tile_a[ty, tx] = float32(0)
        if row < m and start + tx < k:
            tile_a[ty, tx] = a[row, start + tx]
        tile_b[ty, tx] = float32(0)
        if start + ty < k and col < n:
            tile_b[ty, tx] = b[start + ty, col]
        cuda.syncthreads()
        for i in range(TILE):
            total += tile_a[ty, i] * tile_b[i, tx]
        cuda.syncthreads()
    if row < m and col < n:
        c[row, col] = total
