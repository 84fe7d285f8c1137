from numba import cuda, float32


@cuda.jit
def row_length(x, out):
    # no use of store4, rows of 32 words, stored as rows
    rows = cuda.shared.array((4, 32), float32)
    first, lane = cuda.blockIdx.x * 4, cuda.threadIdx.x
    for r in range(4):
        rows[r, lane] = x[first + r, lane]
    cuda.syncwarp()
    for r in range(4):
        out[first + r, lane] = rows[r, lane]
