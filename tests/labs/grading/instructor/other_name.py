"""The module `numba.cuda` has another name."""

import numba.cuda as nc
from numba import float32

TILE = 16


@nc.jit
def tiling(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    tile_a = nc.shared.array((TILE, TILE), float32)
    tile_b = nc.shared.array((TILE, TILE), float32)
    tx, ty = nc.threadIdx.x, nc.threadIdx.y
    row, col = nc.blockIdx.y * TILE + ty, nc.blockIdx.x * TILE + tx
    total = float32(0)
    for start in range(0, k, TILE):
        tile_a[ty, tx] = float32(0)
        if row < m and start + tx < k:
            tile_a[ty, tx] = a[row, start + tx]
        tile_b[ty, tx] = float32(0)
        if start + ty < k and col < n:
            tile_b[ty, tx] = b[start + ty, col]
        nc.syncthreads()
        for i in range(TILE):
            total += tile_a[ty, i] * tile_b[i, tx]
        nc.syncthreads()
    if row < m and col < n:
        c[row, col] = total
