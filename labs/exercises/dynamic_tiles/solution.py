"""The product by tiles of any side, in the memory that the launch asks for."""

from numba import cuda, float32


@cuda.jit
def dynamic_tiles(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    tiles = cuda.shared.array(0, float32)  # as large as the launch says
    side = cuda.blockDim.x
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * side + ty, cuda.blockIdx.x * side + tx
    total = float32(0)
    second = side * side  # where the tile of b begins
    for start in range(0, k, side):
        tiles[ty * side + tx] = float32(0)
        if row < m and start + tx < k:
            tiles[ty * side + tx] = a[row, start + tx]
        tiles[second + ty * side + tx] = float32(0)
        if start + ty < k and col < n:
            tiles[second + ty * side + tx] = b[start + ty, col]
        cuda.syncthreads()  # both tiles are complete
        for i in range(side):
            total += tiles[ty * side + i] * tiles[second + i * side + tx]
        cuda.syncthreads()  # nobody needs them any more
    if row < m and col < n:
        c[row, col] = total
