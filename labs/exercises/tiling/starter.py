"""The product by tiles in shared memory: the loop over the tiles is missing."""

from numba import cuda, float32

TILE = 16


@cuda.jit
def tiling(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
    total = float32(0)
    # About 12 lines: for each tile along k load, wait, add up; at the end store into c.
