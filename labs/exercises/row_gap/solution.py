"""A transposed tile whose rows have a gap of four words, so that its stores do not conflict."""

from numba import cuda, float32

from utils.intrinsics.wide_memory import load4, store4

ROW = 132


@cuda.jit
def row_gap(x, out):
    tile = cuda.shared.array((8, ROW), float32, alignment=16)
    t, first = cuda.threadIdx.x, cuda.blockIdx.x * 128
    down, z = t // 2, t % 2 * 4
    four = load4(x, (first + down, z))
    for j in range(4):
        tile[z + j, down] = four[j]
    cuda.syncthreads()
    z, across = t // 32, t % 32 * 4
    store4(out, (z, first + across), load4(tile, (z, across)))
