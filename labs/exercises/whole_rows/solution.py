"""A warp's quads of c through shared memory, one row of each at a time: whole rows are stored."""

from numba import cuda, float32

from utils.intrinsics.wide_memory import load4, store4


@cuda.jit
def whole_rows(x, c):
    rows = cuda.shared.array((4, 48), float32, alignment=16)  # 16 words of a row are not used
    mine = cuda.local.array((4, 4), float32)
    row, col, lane = cuda.blockIdx.y * 16, cuda.blockIdx.x * 32, cuda.threadIdx.x
    across, down = lane >> 1 & 7, lane >> 3 & 2 | lane & 1
    for i in range(4):
        four = load4(x, (row + down * 4 + i, col + across * 4))
        mine[i, 0], mine[i, 1], mine[i, 2], mine[i, 3] = four
    for i in range(4):
        store4(rows, (down, across * 4), (mine[i, 0], mine[i, 1], mine[i, 2], mine[i, 3]))
        cuda.syncwarp()  # all lanes have stored their part of four rows
        for r in range(4):
            if row + r * 4 + i < c.shape[0] and col + lane < c.shape[1]:
                c[row + r * 4 + i, col + lane] = rows[r, lane]
        cuda.syncwarp()  # nobody needs these rows any more
