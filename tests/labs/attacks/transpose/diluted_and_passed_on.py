from numba import cuda, float32


@cuda.jit(device=True)
def get(a, i, j):
    return a[i, j]


@cuda.jit
def transpose(a, out):
    m, n = a.shape[0], a.shape[1]
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile = cuda.shared.array((32, 33), float32)
    waste = float32(0)
    for i in range(12):
        waste = get(a, 0, 0)  # 1 sector per request, to dilute the mean of the line
    row, col = cuda.blockIdx.x * 32 + ty, cuda.blockIdx.y * 32 + tx  # in out
    if row < n and col < m:
        tile[ty, tx] = get(a, col, row)  # down a column: 32 sectors
    cuda.syncthreads()
    if row < n and col < m:
        out[row, col] = tile[ty, tx]
