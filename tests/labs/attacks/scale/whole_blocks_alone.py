"""Uses its idea only where all blocks are full."""

from numba import cuda


@cuda.jit
def scale(x, factor, out):
    i = cuda.grid(1)
    if x.size % 256 == 0:
        out[i] = factor * x[i]
    elif i == 0:
        for j in range(x.size):
            out[j] = factor * x[j]
