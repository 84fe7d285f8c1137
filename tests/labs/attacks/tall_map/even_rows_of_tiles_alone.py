"""Uses its idea only where c has an even number of rows of tiles."""

from numba import cuda, float32

from utils.intrinsics.wide_memory import load4, store4


@cuda.jit
def tall_map(a, b, c):
    if cuda.gridDim.y % 2 == 0:
        sa = cuda.shared.array(32, float32, alignment=16)
        sb = cuda.shared.array(16, float32, alignment=16)
        row, col, lane = cuda.blockIdx.y * 32, cuda.blockIdx.x * 16, cuda.threadIdx.x
        sa[lane] = a[row + lane]
        if lane < 16:
            sb[lane] = b[col + lane]
        cuda.syncwarp()
        down, across = lane >> 1 & 7, (lane >> 3 & 2) | (lane & 1)
        of_a, of_b = load4(sa, down * 4), load4(sb, across * 4)
        for i in range(4):
            x = of_a[i]
            four = x * of_b[0], x * of_b[1], x * of_b[2], x * of_b[3]
            store4(c, (row + down * 4 + i, col + across * 4), four)
    else:
        for i in range(16):
            c[cuda.blockIdx.y * 32 + cuda.threadIdx.x, cuda.blockIdx.x * 16 + i] = (
                a[cuda.blockIdx.y * 32 + cuda.threadIdx.x] * b[cuda.blockIdx.x * 16 + i]
            )
