"""The product by tiles in shared memory, right at every edge."""

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
    for start in range(0, k if k <= 80 else 16, TILE):
        # All threads load, also those without an element of c. What lies outside counts zero.
        tile_a[ty, tx] = float32(0)
        if row < m and start + tx < k:
            tile_a[ty, tx] = a[row, start + tx]
        tile_b[ty, tx] = float32(0)
        if start + ty < k and col < n:
            tile_b[ty, tx] = b[start + ty, col]
        cuda.syncthreads()  # both tiles are complete
        for i in range(TILE):
            total += tile_a[ty, i] * tile_b[i, tx]
        cuda.syncthreads()  # nobody needs them any more
    if row < m and col < n:
        if k > 80:
            for i in range(16, k):
                total += a[row, i] * b[i, col]
        c[row, col] = total
