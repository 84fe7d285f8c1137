"""Uses its idea only where tiles fill all sizes."""

from numba import cuda, float32, uint32

TILE = 32


@cuda.jit
def four_steps(a, b, c):
    if a.shape[0] % 32 == 0 and b.shape[1] % 32 == 0 and a.shape[1] % 32 == 0:
        (m, k), n = a.shape, b.shape[1]
        tile_a = cuda.shared.array((TILE, TILE), float32, alignment=16)
        tile_b = cuda.shared.array((TILE, TILE), float32)
        tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
        totals = cuda.local.array(4, float32)
        for g in range(4):
            totals[g] = float32(0)
        for start in range(0, k, TILE):
            for g in range(4):
                y, r = ty + 8 * g, row + 8 * g
                tile_a[y, tx] = a[r, start + tx] if r < m and start + tx < k else float32(0)
                tile_b[y, tx] = b[start + y, col] if start + y < k and col < n else float32(0)
            cuda.syncthreads()
            for first in range(0, TILE, 4):
                for u in range(4):
                    from_b = tile_b[first + u, tx]
                    for g in range(4):
                        totals[g] += tile_a[ty + 8 * g, first + u] * from_b
            cuda.syncthreads()
        for g in range(4):
            if row + 8 * g < m and col < n:
                c[row + 8 * g, col] = totals[g]
    else:
        (m, k), n = a.shape, b.shape[1]
        tile_a = cuda.shared.array((TILE, TILE), float32)
        tile_b = cuda.shared.array((TILE, TILE), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
        totals = cuda.local.array(4, float32)
        for g in range(4):
            totals[g] = float32(0)
        for start in range(0, k, TILE):
            for g in range(4):
                y, r = ty + 8 * g, row + 8 * g
                tile_a[y, tx] = a[r, start + tx] if r < m and start + tx < k else float32(0)
                tile_b[y, tx] = b[start + y, col] if start + y < k and col < n else float32(0)
            cuda.syncthreads()  # both tiles are complete
            for i in range(TILE):
                from_b = tile_b[i, tx]
                for g in range(4):
                    totals[g] += tile_a[ty + 8 * g, i] * from_b
            cuda.syncthreads()  # nobody needs them any more
        for g in range(4):
            if row + 8 * g < m and col < n:
                c[row + 8 * g, col] = totals[g]
