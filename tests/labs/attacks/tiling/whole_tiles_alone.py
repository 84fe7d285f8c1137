"""Uses its idea only where tiles fill all sizes."""

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
    if m % 16 == 0 and n % 16 == 0 and k % 16 == 0:
        for start in range(0, k, TILE):
            tile_a[ty, tx] = a[row, start + tx]
            tile_b[ty, tx] = b[start + ty, col]
            cuda.syncthreads()
            for i in range(TILE):
                total += tile_a[ty, i] * tile_b[i, tx]
            cuda.syncthreads()
    else:
        if row < m and col < n:
            for i in range(k):
                total += a[row, i] * b[i, col]

    if row < m and col < n:
        c[row, col] = total
