"""Uses its idea only where c has an even number of rows of tiles."""

from numba import cuda, float32

from utils.intrinsics.wide_memory import load4, store4


@cuda.jit
def lane_bits(a, b, c):
    if cuda.gridDim.y % 2 == 0:
        sa = cuda.shared.array(16, float32, alignment=16)
        sb = cuda.shared.array(32, float32, alignment=16)
        row, col, lane = cuda.blockIdx.y * 16, cuda.blockIdx.x * 32, cuda.threadIdx.x
        if lane < 16:
            sa[lane] = a[row + lane]
        sb[lane] = b[col + lane]
        cuda.syncwarp()
        across, down = lane >> 1 & 7, lane >> 3 & 2 | lane & 1
        x, y = load4(sa, down * 4), load4(sb, across * 4)
        for i in range(4):
            four = x[i] * y[0], x[i] * y[1], x[i] * y[2], x[i] * y[3]
            store4(c, (row + down * 4 + i, col + across * 4), four)
    else:
        sa = cuda.shared.array(16, float32, alignment=16)
        sb = cuda.shared.array(32, float32, alignment=16)
        row, col, lane = cuda.blockIdx.y * 16, cuda.blockIdx.x * 32, cuda.threadIdx.x
        if lane < 16:
            sa[lane] = a[row + lane]
        sb[lane] = b[col + lane]
        cuda.syncwarp()
        # Row by row: write the line of the zig-zag instead.
        across, down = lane & 7, lane >> 3
        x, y = load4(sa, down * 4), load4(sb, across * 4)
        for i in range(4):
            four = x[i] * y[0], x[i] * y[1], x[i] * y[2], x[i] * y[3]
            store4(c, (row + down * 4 + i, col + across * 4), four)
