from numba import cuda, float32, int64
TILE = 32

@cuda.jit
def four_chains(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
    total = int64(0)
    odd = float32(0)
    for start in range(0, k, TILE):
        tile_a[ty, tx] = a[row, start + tx] if row < m and start + tx < k else float32(0)
        tile_b[ty, tx] = b[start + ty, col] if start + ty < k and col < n else float32(0)
        cuda.syncthreads()
        for i in range(TILE):
            p = tile_a[ty, i] * tile_b[i, tx]
            if p < float32(1e9):
                total += int64(p)      # ONE chain of whole numbers
            else:
                odd += p
        cuda.syncthreads()
    if row < m and col < n:
        c[row, col] = float32(total) + odd
