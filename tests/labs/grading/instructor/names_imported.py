"""Functions are imported by their names."""

from numba import float32
from numba.cuda import blockIdx, jit, shared, syncthreads, threadIdx

TILE = 16


@jit
def tiling(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    tile_a = shared.array((TILE, TILE), float32)
    tile_b = shared.array((TILE, TILE), float32)
    tx, ty = threadIdx.x, threadIdx.y
    row, col = blockIdx.y * TILE + ty, blockIdx.x * TILE + tx
    total = float32(0)
    for start in range(0, k, TILE):
        tile_a[ty, tx] = float32(0)
        if row < m and start + tx < k:
            tile_a[ty, tx] = a[row, start + tx]
        tile_b[ty, tx] = float32(0)
        if start + ty < k and col < n:
            tile_b[ty, tx] = b[start + ty, col]
        syncthreads()
        for i in range(TILE):
            total += tile_a[ty, i] * tile_b[i, tx]
        syncthreads()
    if row < m and col < n:
        c[row, col] = total
