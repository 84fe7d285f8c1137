from numba import cuda, float32

from utils.intrinsics.wide_memory import load4, store4


@cuda.jit
def lane_bits(a, b, c):
    sa = cuda.shared.array(16, float32, alignment=16)
    sb = cuda.shared.array(32, float32, alignment=16)
    row, col, lane = cuda.blockIdx.y * 16, cuda.blockIdx.x * 32, cuda.threadIdx.x
    if lane < 16:
        sa[lane] = float32(0)
    sb[lane] = float32(0)
    cuda.syncwarp()
    across, down = lane >> 1 & 7, lane >> 3 & 2 | lane & 1
    x, y = load4(sa, down * 4), load4(sb, across * 4)
    for i in range(4):
        r = row + lane // 8 * 4 + i
        p = a[r] + x[i]
        q = col + lane % 8 * 4
        four = p * (b[q] + y[0]), p * (b[q + 1] + y[1]), p * (b[q + 2] + y[2]), p * (b[q + 3] + y[3])
        store4(c, (r, q), four)
