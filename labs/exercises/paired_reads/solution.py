"""A copy by way of shared memory in which neighbouring lanes read the same quad."""

from numba import cuda, float32

from utils.intrinsics.wide_memory import load4


@cuda.jit
def paired_reads(x, out):
    tile = cuda.shared.array(32, float32, alignment=16)
    lane, first = cuda.threadIdx.x, cuda.blockIdx.x * 32
    tile[lane] = x[first + lane]
    cuda.syncwarp()
    quad, word = lane // 4, lane % 4
    four = load4(tile, 4 * quad)
    out[first + 4 * quad + word] = four[word]
