"""To be changed: a copy that waits for each of its four elements."""

from numba import cuda, float32


@cuda.jit
def four_loads(x, out):
    first = cuda.blockIdx.x * 1024 + cuda.threadIdx.x
    # Right, but one load after the other. Your lines, about 9, take the place of these:
    for j in range(4):
        i = first + 256 * j
        if i < x.size:
            out[i] = x[i]
