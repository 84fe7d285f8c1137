from numba import cuda, float32


@cuda.jit
def dynamic_tiles(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    asked = cuda.shared.array(0, float32)     # touched once, never used
    sa = cuda.shared.array((16, 16), float32)
    sb = cuda.shared.array((16, 16), float32)
    side = cuda.blockDim.x
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    asked[side * side + ty * side + tx] = float32(0)
    row, col = cuda.blockIdx.y * side + ty, cuda.blockIdx.x * side + tx
    total = float32(0)
    for start in range(0, k, side):
        sa[ty, tx] = a[row, start + tx] if row < m and start + tx < k else float32(0)
        sb[ty, tx] = b[start + ty, col] if start + ty < k and col < n else float32(0)
        cuda.syncthreads()
        for i in range(side):
            total += sa[ty, i] * sb[i, tx]
        cuda.syncthreads()
    if row < m and col < n:
        c[row, col] = total
