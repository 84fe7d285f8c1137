"""To be changed: each lane stores its own quad, and a request reaches into 16 sectors."""

from numba import cuda, float32

from utils.intrinsics.wide_memory import load4, store4


@cuda.jit
def whole_rows(x, c):
    rows = cuda.shared.array((4, 32), float32, alignment=16)
    mine = cuda.local.array((4, 4), float32)
    row, col, lane = cuda.blockIdx.y * 16, cuda.blockIdx.x * 32, cuda.threadIdx.x
    across, down = lane >> 1 & 7, lane >> 3 & 2 | lane & 1
    for i in range(4):
        four = load4(x, (row + down * 4 + i, col + across * 4))
        mine[i, 0], mine[i, 1], mine[i, 2], mine[i, 3] = four
    # Right, but each request reaches into 16 sectors. Write about 8 lines instead of these:
    for i in range(4):
        for j in range(4):
            y, z = row + down * 4 + i, col + across * 4 + j
            if y < c.shape[0] and z < c.shape[1]:
                c[y, z] = mine[i, j]
