"""To be written: the largest element of each block."""

from numba import cuda, float32

BLOCK = 256


@cuda.jit
def maximum(x, largest):
    shared = cuda.shared.array(BLOCK, float32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    # About 10 lines: store the largest element of this block into largest[cuda.blockIdx.x].
