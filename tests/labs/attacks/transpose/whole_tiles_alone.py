"""Uses its idea only where tiles fill all sizes."""

from numba import cuda, float32

SIDE, WIDE = 32, 33


@cuda.jit
def transpose(a, out):
    m, n = a.shape[0], a.shape[1]
    tile = cuda.shared.array((SIDE, WIDE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * SIDE + ty, cuda.blockIdx.x * SIDE + tx
    if m % 32 == 0 and n % 32 == 0:
        tile[ty, tx] = a[row, col]
        cuda.syncthreads()
        out[cuda.blockIdx.x * SIDE + ty, cuda.blockIdx.y * SIDE + tx] = tile[tx, ty]
    elif row < m and col < n:
        out[col, row] = a[row, col]
