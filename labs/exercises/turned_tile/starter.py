"""Eight columns of a matrix turned into rows: the tile is there, and nothing fills it yet."""

from numba import cuda, float32

from utils.intrinsics.wide_memory import load4, store4


@cuda.jit
def turned_tile(x, out):
    tile = cuda.shared.array((8, 128), float32, alignment=16)
    t, first = cuda.threadIdx.x, cuda.blockIdx.x * 128
    down, z = t // 2, t % 2 * 4
    # Here: one load4 of this thread's quad of x, and four stores into the tile.
    cuda.syncthreads()
    z, across = t // 32, t % 32 * 4
    # Here: one load4 from row z of the tile, and one store4 into row z of out.
