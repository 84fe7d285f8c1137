"""Uses its idea only where the launch has an even number of blocks."""

from numba import cuda, float32

from utils.intrinsics.wide_memory import load4


@cuda.jit
def paired_reads(x, out):
    if x.size % 64 == 0:
        tile = cuda.shared.array(32, float32, alignment=16)
        lane, first = cuda.threadIdx.x, cuda.blockIdx.x * 32
        tile[lane] = x[first + lane]
        cuda.syncwarp()
        quad, word = lane // 4, lane % 4
        four = load4(tile, 4 * quad)
        out[first + 4 * quad + word] = four[word]
    else:
        tile = cuda.shared.array(32, float32, alignment=16)
        lane, first = cuda.threadIdx.x, cuda.blockIdx.x * 32
        tile[lane] = x[first + lane]
        cuda.syncwarp()
        quad, word = lane % 8, lane // 8
        four = load4(tile, 4 * quad)
        out[first + 4 * quad + word] = four[word]
