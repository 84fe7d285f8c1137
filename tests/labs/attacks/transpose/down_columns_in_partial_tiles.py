"""Uses its idea only where tiles fill a; elsewhere words go through shared memory for show."""

from numba import cuda, float32

SIDE = 32
PADDED = 33  # one more than is stored in a row


@cuda.jit
def transpose(a, out):
    if a.shape[0] % 32 == 0 and a.shape[1] % 32 == 0:
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
    else:
        words = cuda.shared.array(1024, float32)
        number = cuda.threadIdx.y * 32 + cuda.threadIdx.x
        row, col = cuda.blockIdx.y * 32 + cuda.threadIdx.y, cuda.blockIdx.x * 32 + cuda.threadIdx.x
        words[number] = a[row, col] if row < a.shape[0] and col < a.shape[1] else float32(0)
        cuda.syncthreads()
        if row < a.shape[0] and col < a.shape[1]:
            out[col, row] = words[number]
