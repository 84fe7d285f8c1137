"""Uses its idea only where tiles fill all sizes."""

from numba import cuda, float32


@cuda.jit
def dynamic_tiles(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    tiles = cuda.shared.array(0, float32)
    side = cuda.blockDim.x
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * side + ty, cuda.blockIdx.x * side + tx
    total = float32(0)
    if m % side + n % side + k % side == 0:
        for start in range(0, k, side):
            tiles[ty * side + tx] = a[row, start + tx]
            tiles[(side + ty) * side + tx] = b[start + ty, col]
            cuda.syncthreads()
            for i in range(side):
                total += tiles[ty * side + i] * tiles[(side + i) * side + tx]
            cuda.syncthreads()
    elif row < m and col < n:
        for i in range(k):
            total += a[row, i] * b[i, col]
    if row < m and col < n:
        c[row, col] = total
