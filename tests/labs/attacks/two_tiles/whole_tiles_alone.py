"""Uses its idea only where tiles fill all sizes."""

from numba import cuda, float32

TILE = 16


@cuda.jit
def two_tiles(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    tile_d = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * 2 * TILE + tx
    total, other = float32(0), float32(0)
    if m % 16 == 0 and n % 32 == 0 and k % 16 == 0:
        for start in range(0, k, TILE):
            tile_a[ty, tx] = a[row, start + tx]
            tile_b[ty, tx] = b[start + ty, col]
            tile_d[ty, tx] = b[start + ty, col + 16]
            cuda.syncthreads()
            for i in range(TILE):
                x = tile_a[ty, i]
                total += x * tile_b[i, tx]
                other += x * tile_d[i, tx]
            cuda.syncthreads()
    else:
        for i in range(k):
            if row < m and col < n:
                total += a[row, i] * b[i, col]
            if row < m and col + 16 < n:
                other += a[row, i] * b[i, col + 16]
    if row < m and col < n:
        c[row, col] = total
    if row < m and col + 16 < n:
        c[row, col + 16] = other
