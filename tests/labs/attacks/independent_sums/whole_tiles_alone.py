"""Uses its idea only where tiles fill all sizes."""

from numba import cuda, float32

TILE = 32


@cuda.jit
def independent_sums(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
    sums = cuda.local.array(4, float32)
    for j in range(4):
        sums[j] = float32(0)
    if m % 32 == 0 and n % 32 == 0 and k % 32 == 0:
        for start in range(0, k, TILE):
            for j in range(4):
                tile_a[ty + 8 * j, tx] = a[row + 8 * j, start + tx]
                tile_b[ty + 8 * j, tx] = b[start + ty + 8 * j, col]
            cuda.syncthreads()
            for i in range(TILE):
                x = tile_b[i, tx]
                for j in range(4):
                    sums[j] += tile_a[ty + 8 * j, i] * x
            cuda.syncthreads()
    else:
        for j in range(4):
            if row + 8 * j < m and col < n:
                for i in range(k):
                    sums[j] += a[row + 8 * j, i] * b[i, col]
    for j in range(4):
        if row + 8 * j < m and col < n:
            c[row + 8 * j, col] = sums[j]
