from numba import cuda, float32, uint32

TILE = 16


@cuda.jit
def reads_again(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b0 = cuda.shared.array((TILE, TILE), float32)
    tile_b1 = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * 2 * TILE + tx
    next_col = col + TILE
    total0 = float32(0)
    total1 = float32(0)
    for start in range(0, k, TILE):
        tile_a[ty, tx] = a[row, start + tx] if row < m and start + tx < k else float32(0)
        tile_b0[ty, tx] = b[start + ty, col] if start + ty < k and col < n else float32(0)
        tile_b1[ty, tx] = b[start + ty, next_col] if start + ty < k and next_col < n else float32(0)
        cuda.syncthreads()
        for i in range(TILE - 1):
            total0 += tile_a[ty, i] * tile_b0[i, tx]
            total1 += tile_a[ty, i] * tile_b1[i, tx]
        total0 += tile_a[ty, 15] * tile_b0[15, tx]
        cuda.syncwarp()
        for i in range(TILE - 1, TILE):
            total1 += tile_a[ty, i] * tile_b1[i, tx]
        cuda.syncthreads()
    if row < m and col < n:
        c[row, col] = total0
    if row < m and next_col < n:
        c[row, next_col] = total1
