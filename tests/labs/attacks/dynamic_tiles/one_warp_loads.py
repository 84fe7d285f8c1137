"""One warp loads for the whole block, and the others wait."""

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
        number = ty * side + tx
        if number < 32:
            for e in range(number, second, 32):
                y, z = cuda.blockIdx.y * side + e // side, start + e % side
                tiles[e] = a[y, z] if y < m and z < k else float32(0)
                z, x = start + e // side, cuda.blockIdx.x * side + e % side
                tiles[second + e] = b[z, x] if z < k and x < n else float32(0)
        cuda.syncthreads()  # both tiles are complete
        for i in range(side):
            total += tiles[ty * side + i] * tiles[second + i * side + tx]
        cuda.syncthreads()  # nobody needs them any more
    if row < m and col < n:
        c[row, col] = total
