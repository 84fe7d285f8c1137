"""A product with 8×8 elements of c per thread: wide loads, and the tile of a is transposed."""

from numba import cuda, float32, uint32

from utils.intrinsics.wide_memory import load4, store4


@cuda.jit
def wide_tiles(a, b, c):
    sa = cuda.shared.array((8, 132), float32, alignment=16)
    sb = cuda.shared.array((8, 128), float32, alignment=16)
    sums = cuda.local.array((8, 8), float32)
    of_a, of_b = cuda.local.array(8, float32), cuda.local.array(8, float32)
    t, row, col = cuda.threadIdx.x, cuda.blockIdx.y * 128, cuda.blockIdx.x * 128
    y, x = t // 16 * 8, t % 16 * 8
    for i in range(8):
        for j in range(8):
            sums[i, j] = float32(0)
    for start in range(0, a.shape[1], 8):
        four = load4(a, (row + t // 2, start + t % 2 * 4))
        for j in range(4):
            sa[t % 2 * 4 + j, t // 2] = four[j]
        four = load4(b, (start + t // 32, col + t % 32 * 4))
        store4(sb, (t // 32, t % 32 * 4), four)
        cuda.syncthreads()  # both tiles are complete
        z = uint32(0)
        while z < 8:
            for i in range(0, 8, 4):
                of_a[i], of_a[i + 1], of_a[i + 2], of_a[i + 3] = load4(sa, (z, y + i))
                of_b[i], of_b[i + 1], of_b[i + 2], of_b[i + 3] = load4(sb, (z, x + i))
            for i in range(8):
                for j in range(8):
                    sums[i, j] += of_a[i] * of_b[j]
            z = uint32(z + 1)
        cuda.syncthreads()  # nobody needs them any more
    for i in range(8):
        store4(c, (row + y + i, col + x), (sums[i, 0], sums[i, 1], sums[i, 2], sums[i, 3]))
        store4(c, (row + y + i, col + x + 4), (sums[i, 4], sums[i, 5], sums[i, 6], sums[i, 7]))
