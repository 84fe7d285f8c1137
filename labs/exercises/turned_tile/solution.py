"""Eight columns of a matrix turned into rows through a transposed tile, 128 bits at a time."""

from numba import cuda, float32

from utils.intrinsics.wide_memory import load4, store4


@cuda.jit
def turned_tile(x, out):
    tile = cuda.shared.array((8, 128), float32, alignment=16)
    t, first = cuda.threadIdx.x, cuda.blockIdx.x * 128
    down, z = t // 2, t % 2 * 4
    four = load4(x, (first + down, z))
    for j in range(4):
        tile[z + j, down] = four[j]
    cuda.syncthreads()
    z, across = t // 32, t % 32 * 4
    store4(out, (z, first + across), load4(tile, (z, across)))
