"""The transpose by tiles in shared memory: the tile, the load and the store are missing."""

from numba import cuda, float32

SIDE = 32


@cuda.jit
def transpose(a, out):
    m, n = a.shape[0], a.shape[1]
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * SIDE + ty, cuda.blockIdx.x * SIDE + tx
    # About 8 lines: load a[row, col] into a tile, wait, and store a row of out from the tile.
