"""The product with 8×8 elements of c per thread: its loads are missing."""

from numba import cuda, float32, uint32

from utils.intrinsics.wide_memory import load4, store4


@cuda.jit
def wide_tiles(a, b, c):
    sa = cuda.shared.array((8, 132), float32, alignment=16)
    sb = cuda.shared.array((8, 128), float32, alignment=16)
    sums = cuda.local.array((8, 8), float32)  # here: set them to zero
    of_a, of_b = cuda.local.array(8, float32), cuda.local.array(8, float32)
    t, row, col = cuda.threadIdx.x, cuda.blockIdx.y * 128, cuda.blockIdx.x * 128
    y, x = t // 16 * 8, t % 16 * 8
    for start in range(0, a.shape[1], 8):  # here: fill sa and sb
        cuda.syncthreads()
        z = uint32(0)
        while z < 8:  # here: fill of_a and of_b
            for i in range(8):
                for j in range(8):
                    sums[i, j] += of_a[i] * of_b[j]
            z = uint32(z + 1)
        cuda.syncthreads()
    for i in range(8):
        store4(c, (row + y + i, col + x), (sums[i, 0], sums[i, 1], sums[i, 2], sums[i, 3]))
        store4(c, (row + y + i, col + x + 4), (sums[i, 4], sums[i, 5], sums[i, 6], sums[i, 7]))
