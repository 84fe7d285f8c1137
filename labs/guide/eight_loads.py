"""Lesson 09, exercise 2: a copy with eight loads in flight in each thread."""

from numba import cuda, float32


@cuda.jit
def eight_loads(x, out):
    first = cuda.blockIdx.x * 2048 + cuda.threadIdx.x
    values = cuda.local.array(8, float32)
    for j in range(8):
        i = first + 256 * j
        if i < x.size:
            values[j] = x[i]
    for j in range(8):
        i = first + 256 * j
        if i < x.size:
            out[i] = values[j]
