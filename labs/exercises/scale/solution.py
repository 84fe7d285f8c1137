"""Each thread scales one element."""

from numba import cuda


@cuda.jit
def scale(x, factor, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = factor * x[i]
