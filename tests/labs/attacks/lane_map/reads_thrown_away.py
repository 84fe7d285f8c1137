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
    down, across = lane // 8, lane % 8       # the naive map
    of_a, of_b = load4(sa, 0), load4(sb, 0)  # read, and never used
    for i in range(4):
        x = a[row + down * 4 + i]
        p = col + across * 4
        four = x * b[p], x * b[p + 1], x * b[p + 2], x * b[p + 3]
        store4(c, (row + down * 4 + i, col + across * 4), four)
