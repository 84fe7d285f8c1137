"""The product by tiles with two buffers: one is used while the next tile is being loaded."""

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
    start, side = uint32(0), uint32(0)
    # The first tile: nothing is there yet that could be multiplied in the meantime.
    tile_a[side, ty, tx] = a[row, tx] if row < m and tx < k else float32(0)
    tile_b[side, ty, tx] = b[ty, col] if ty < k and col < n else float32(0)
    cuda.syncthreads()
    while start < k:
        start = uint32(start + TILE)
        # From here the next tile is under way. Behind the last one there are only zeros.
        next_a = a[row, start + tx] if row < m and start + tx < k else float32(0)
        next_b = b[start + ty, col] if start + ty < k and col < n else float32(0)
        next_a = next_a + float32(0)
        next_b = next_b + float32(0)
        for i in range(TILE):
            total += tile_a[side, ty, i] * tile_b[side, i, tx]
        # The other buffer was last read before the barrier of the iteration before.
        side ^= uint32(1)
        tile_a[side, ty, tx] = next_a
        tile_b[side, ty, tx] = next_b
        cuda.syncthreads()
    if row < m and col < n:
        c[row, col] = total
