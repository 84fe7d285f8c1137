"""To be written: four rows pass through shared memory, and banks must not meet."""

from numba import cuda, float32

from utils.intrinsics.wide_memory import load4, store4


@cuda.jit
def row_length(x, out):
    rows = cuda.shared.array((4, 32), float32, alignment=16)
    first, lane = cuda.blockIdx.x * 4, cuda.threadIdx.x
    across, down = lane >> 1 & 7, lane >> 3 & 2 | lane & 1
    four = load4(x, (first + down, across * 4))
    # Choose the length of a row of `rows`, and write about 4 lines:
