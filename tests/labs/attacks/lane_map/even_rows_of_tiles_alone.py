"""Uses its idea only where c has an even number of rows of tiles."""

from numba import cuda, float32

from utils.intrinsics.wide_memory import load4, store4


@cuda.jit
def lane_map(a, b, c):
    if cuda.gridDim.y % 2 == 0:
        sa = cuda.shared.array(16, float32, alignment=16)
        sb = cuda.shared.array(32, float32, alignment=16)
        row, col, lane = cuda.blockIdx.y * 16, cuda.blockIdx.x * 32, cuda.threadIdx.x
        if lane < 16:
            sa[lane] = a[row + lane]
        sb[lane] = b[col + lane]
        cuda.syncwarp()
        # Bit 0 of the lane goes down, bit 1 across: each read has a partner, next to it or but one.
        down, across = lane >> 3 & 2 | lane & 1, lane >> 1 & 7
        of_a, of_b = load4(sa, down * 4), load4(sb, across * 4)
        for i in range(4):
            x = of_a[i]
            four = x * of_b[0], x * of_b[1], x * of_b[2], x * of_b[3]
            store4(c, (row + down * 4 + i, col + across * 4), four)
    else:
        for i in range(16):
            c[cuda.blockIdx.y * 16 + i, cuda.blockIdx.x * 32 + cuda.threadIdx.x] = (
                a[cuda.blockIdx.y * 16 + i] * b[cuda.blockIdx.x * 32 + cuda.threadIdx.x]
            )
