"""One warp loads for the whole block, and the others wait."""

from numba import cuda, float32

TILE = 32


@cuda.jit
def four_chains(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
    totals = cuda.local.array(4, float32)
    for j in range(4):
        totals[j] = float32(0)
    for start in range(0, k, TILE):
        if ty == 0:
            for i in range(TILE):
                y = cuda.blockIdx.y * TILE + i
                tile_a[i, tx] = a[y, start + tx] if y < m and start + tx < k else float32(0)
                tile_b[i, tx] = b[start + i, col] if start + i < k and col < n else float32(0)
        cuda.syncthreads()
        for i in range(TILE):
            totals[i % 4] += tile_a[ty, i] * tile_b[i, tx]
        cuda.syncthreads()
    if row < m and col < n:
        c[row, col] = totals[0] + totals[1] + totals[2] + totals[3]
