"""To be repaired: the tile of b is stored transposed in shared memory."""

from numba import cuda, float32

SIDE = 32


@cuda.jit
def conflict_free(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    tile_a = cuda.shared.array((SIDE, SIDE), float32)
    tile_b = cuda.shared.array((SIDE, SIDE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * SIDE + ty, cuda.blockIdx.x * SIDE + tx
    total = float32(0)
    for start in range(0, k, SIDE):
        tile_a[ty, tx] = a[row, start + tx] if row < m and start + tx < k else float32(0)
        tile_b[tx, ty] = b[start + ty, col] if start + ty < k and col < n else float32(0)
        cuda.syncthreads()
        for i in range(SIDE):
            total += tile_a[ty, i] * tile_b[tx, i]
        cuda.syncthreads()
    if row < m and col < n:
        c[row, col] = total
