"""One step of a product by one warp: the map from a lane to its quad is missing."""

from numba import cuda, float32

from utils.intrinsics.wide_memory import load4, store4


@cuda.jit
def lane_map(a, b, c):
    sa = cuda.shared.array(16, float32, alignment=16)
    sb = cuda.shared.array(32, float32, alignment=16)
    row, col, lane = cuda.blockIdx.y * 16, cuda.blockIdx.x * 32, cuda.threadIdx.x
    if lane < 16:
        sa[lane] = a[row + lane]
    sb[lane] = b[col + lane]
    cuda.syncwarp()
    # About 6 lines: this lane's patch, (down, across); one read of sa, one of sb; 16 products.
