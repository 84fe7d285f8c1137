"""Uses its idea only where tiles fill all sizes."""

from numba import cuda, float32, uint32

TILE = 16


@cuda.jit
def double_buffer(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    tile_a = cuda.shared.array((2, TILE, TILE), float32)
    tile_b = cuda.shared.array((2, TILE, TILE), float32)
    tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    row, col = uint32(cuda.blockIdx.y * TILE + ty), uint32(cuda.blockIdx.x * TILE + tx)
    total = float32(0)

    if m % 16 + n % 16 + k % 16 == 0:
        tile_a[0, ty, tx] = a[row, tx]
        tile_b[0, ty, tx] = b[ty, col]
        cuda.syncthreads()
        now = 0
        for start in range(TILE, k + TILE, TILE):
            next_a, next_b = float32(0), float32(0)
            if start < k:
                next_a = a[row, start + tx]
                next_b = b[start + ty, col]
            for i in range(TILE):
                total += tile_a[now, ty, i] * tile_b[now, i, tx]
            now = 1 - now
            if start < k:
                tile_a[now, ty, tx] = next_a
                tile_b[now, ty, tx] = next_b
                cuda.syncthreads()
    elif row < m and col < n:
        for i in range(k):
            total += a[row, i] * b[i, col]
    if row < m and col < n:
        c[row, col] = total
