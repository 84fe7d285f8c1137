"""Rows of a go into a tile in shared memory, and its columns become rows of out."""

from numba import cuda, float32

SIDE = 32
PADDED = 33  # one more than is stored in a row


@cuda.jit
def transpose(a, out):
    m, n = a.shape[0], a.shape[1]
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * SIDE + ty, cuda.blockIdx.x * SIDE + tx
    tile = cuda.shared.array((SIDE, PADDED), float32)
    if row < m and col < n:
        tile[ty, tx] = a[row, col]
    cuda.syncthreads()  # the tile is complete
    row, col = cuda.blockIdx.x * SIDE + ty, cuda.blockIdx.y * SIDE + tx  # in out
    if row < n and col < m:
        out[row, col] = tile[tx, ty]
