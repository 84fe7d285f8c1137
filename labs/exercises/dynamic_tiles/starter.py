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
    # About 12 lines: the loop over the tiles, both of them in `tiles`; then store into c.
