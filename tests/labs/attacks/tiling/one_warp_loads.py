"""One warp loads for the whole block, and the others wait."""

from numba import cuda, float32


@cuda.jit
def tiling(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    tile_a = cuda.shared.array((16, 16), float32)
    tile_b = cuda.shared.array((16, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * 16, cuda.blockIdx.x * 16
    number = ty * 16 + tx
    total = float32(0)
    for start in range(0, k, 16):
        if number < 32:
            for e in range(number, 16 * 16, 32):
                i, j = e // 16, e % 16
                tile_a[i, j] = (
                    a[top + i, start + j] if top + i < m and start + j < k else float32(0)
                )
            for e in range(number, 16 * 16, 32):
                i, j = e // 16, e % 16
                tile_b[i, j] = (
                    b[start + i, left + j] if start + i < k and left + j < n else float32(0)
                )
        cuda.syncthreads()
        for i in range(16):
            total += tile_a[ty, i] * tile_b[i, tx]
        cuda.syncthreads()
    if top + ty < m and left + tx < n:
        c[top + ty, left + tx] = total
