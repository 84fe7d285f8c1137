"""One warp loads for the whole block, and the others wait."""

from numba import cuda, float32


@cuda.jit
def independent_sums(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    tile_a = cuda.shared.array((32, 32), float32)
    tile_b = cuda.shared.array((32, 32), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * 32, cuda.blockIdx.x * 32
    number = ty * 32 + tx
    s0, s1, s2, s3 = float32(0), float32(0), float32(0), float32(0)
    for start in range(0, k, 32):
        if number < 32:
            for e in range(number, 32 * 32, 32):
                i, j = e // 32, e % 32
                tile_a[i, j] = (
                    a[top + i, start + j] if top + i < m and start + j < k else float32(0)
                )
            for e in range(number, 32 * 32, 32):
                i, j = e // 32, e % 32
                tile_b[i, j] = (
                    b[start + i, left + j] if start + i < k and left + j < n else float32(0)
                )
        cuda.syncthreads()
        for i in range(32):
            of_b = tile_b[i, tx]
            s0 += tile_a[ty + 0, i] * of_b
            s1 += tile_a[ty + 8, i] * of_b
            s2 += tile_a[ty + 16, i] * of_b
            s3 += tile_a[ty + 24, i] * of_b
        cuda.syncthreads()
    if top + ty + 0 < m and left + tx < n:
        c[top + ty + 0, left + tx] = s0
    if top + ty + 8 < m and left + tx < n:
        c[top + ty + 8, left + tx] = s1
    if top + ty + 16 < m and left + tx < n:
        c[top + ty + 16, left + tx] = s2
    if top + ty + 24 < m and left + tx < n:
        c[top + ty + 24, left + tx] = s3
