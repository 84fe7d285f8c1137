from numba import cuda, float32

from utils.intrinsics.wide_memory import load4, store4


@cuda.jit
def row_length(x, out):
    rows = cuda.shared.array((4, 32), float32, alignment=16)   # as before
    first, lane = cuda.blockIdx.x * 4, cuda.threadIdx.x
    rows[0, lane] = float32(0)
    cuda.syncwarp()
    for r in range(4):
        waste = rows[0, lane]
        out[first + r, lane] = x[first + r, lane] + (rows[0, lane] - waste)
