"""Uses two buffers only where tiles fill all sizes."""

from numba import cuda, float32, uint32

TILE = 16


@cuda.jit
def order_loads(a, b, c):
    if a.shape[0] % 16 == 0 and b.shape[1] % 16 == 0 and a.shape[1] % 16 == 0:
        (m, k), n = a.shape, b.shape[1]
        tile_a = cuda.shared.array((TILE, TILE), float32)
        tile_b = cuda.shared.array((TILE, TILE), float32)
        tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        row = uint32(cuda.blockIdx.y * TILE + ty)
        col = uint32(cuda.blockIdx.x * TILE + tx)
        total = float32(0)
        start = uint32(0)
        next_a = a[row, tx] if row < m and tx < k else float32(0)
        next_b = b[ty, col] if ty < k and col < n else float32(0)
        while start < k:
            tile_a[ty, tx], tile_b[ty, tx] = next_a, next_b
            cuda.syncthreads()
            start = uint32(start + TILE)
            next_a = a[row, start + tx] if row < m and start + tx < k else float32(0)
            next_b = b[start + ty, col] if start + ty < k and col < n else float32(0)
            for i in range(TILE):
                total += tile_a[ty, i] * tile_b[i, tx]
            cuda.syncthreads()
        if row < m and col < n:
            c[row, col] = total
    else:
        (m, k), n = a.shape, b.shape[1]
        tile_a = cuda.shared.array((TILE, TILE), float32)
        tile_b = cuda.shared.array((TILE, TILE), float32)
        tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        row, col = uint32(cuda.blockIdx.y * TILE + ty), uint32(cuda.blockIdx.x * TILE + tx)
        total = float32(0)
        # Right, but each iteration waits for its loads. Write about 16 lines instead of the loop:
        for start in range(0, k, TILE):
            tile_a[ty, tx] = a[row, start + tx] if row < m and start + tx < k else float32(0)
            tile_b[ty, tx] = b[start + ty, col] if start + ty < k and col < n else float32(0)
            cuda.syncthreads()
            for i in range(TILE):
                total += tile_a[ty, i] * tile_b[i, tx]
            cuda.syncthreads()
        if row < m and col < n:
            c[row, col] = total
