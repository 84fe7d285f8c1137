"""One warp loads for the whole block, and the others wait."""

from numba import cuda, float32

SIDE = 32
PADDED = 33  # one more than is stored in a row


@cuda.jit
def conflict_free(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    tile_a = cuda.shared.array((SIDE, SIDE), float32)
    tile_b = cuda.shared.array((SIDE, PADDED), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * SIDE + ty, cuda.blockIdx.x * SIDE + tx
    total = float32(0)
    for start in range(0, k, SIDE):
        if ty == 0:
            for i in range(SIDE):
                y = cuda.blockIdx.y * SIDE + i
                tile_a[i, tx] = a[y, start + tx] if y < m and start + tx < k else float32(0)
                tile_b[tx, i] = b[start + i, col] if start + i < k and col < n else float32(0)
        cuda.syncthreads()
        for i in range(SIDE):
            total += tile_a[ty, i] * tile_b[tx, i]
        cuda.syncthreads()
    if row < m and col < n:
        c[row, col] = total
