from numba import cuda, float32

from utils.intrinsics.wide_memory import load4


@cuda.jit
def paired_reads(x, out):
    tile = cuda.shared.array(32, float32, alignment=16)
    lane, first = cuda.threadIdx.x, cuda.blockIdx.x * 32
    tile[lane] = float32(0)
    cuda.syncwarp()
    four = load4(tile, 4 * (lane // 4))
    out[first + lane] = x[first + lane] + four[0]
