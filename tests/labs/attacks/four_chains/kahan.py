from numba import cuda, float32
TILE = 32

@cuda.jit
def four_chains(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
    total = float32(0)
    lost = float32(0)
    for start in range(0, k, TILE):
        tile_a[ty, tx] = a[row, start + tx] if row < m and start + tx < k else float32(0)
        tile_b[ty, tx] = b[start + ty, col] if start + ty < k and col < n else float32(0)
        cuda.syncthreads()
        for i in range(TILE):
            p = tile_a[ty, i] * tile_b[i, tx]
            s = total + p
            if s - s == float32(0):
                bb = s - total
                lost += (total - (s - bb)) + (p - bb)
            total = s
        cuda.syncthreads()
    if row < m and col < n:
        c[row, col] = total + lost
