from numba import cuda, float32

from utils.intrinsics.wide_memory import load4, store4


@cuda.jit
def tall_map(a, b, c):
    sa = cuda.shared.array(32, float32, alignment=16)
    sb = cuda.shared.array(16, float32, alignment=16)
    row, col, lane = cuda.blockIdx.y * 32, cuda.blockIdx.x * 16, cuda.threadIdx.x
    sa[lane] = float32(0)
    if lane < 16:
        sb[lane] = float32(0)
    cuda.syncwarp()
    x, y = load4(sa, 0), load4(sb, 0)
    for i in range(4):
        r = row + lane // 4 * 4 + i
        p = a[r] + x[i]
        q = col + lane % 4 * 4
        four = p * (b[q] + y[0]), p * (b[q + 1] + y[1]), p * (b[q + 2] + y[2]), p * (b[q + 3] + y[3])
        store4(c, (r, q), four)
