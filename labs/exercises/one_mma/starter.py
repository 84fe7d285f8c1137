"""To be written: the loads of a and the stores of c for one mma."""

from numba import cuda, float32, uint32
from numba.types import float16

from utils.intrinsics.tensor import mma_m16n8k8


@cuda.jit
def one_mma(a, b, c):
    sums = cuda.local.array(4, float32)
    of_a = cuda.local.array(4, float16)
    of_b = cuda.local.array(2, float16)
    lane = uint32(cuda.threadIdx.x)
    row, col = uint32(cuda.blockIdx.y * 16), uint32(cuda.blockIdx.x * 8)
    group, pair = lane // 4, lane % 4 * 2
    for i in range(4):
        sums[i] = float32(0)
    for i in range(2):
        of_b[i] = b[pair + i, col + group]
    # Load the lane's four elements of a into of_a. About 2 lines.
    mma_m16n8k8(sums, of_a, of_b)
    # Store the lane's four sums into c. About 2 lines.
