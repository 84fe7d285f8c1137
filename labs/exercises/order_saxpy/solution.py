"""The lines of saxpy in order."""

from numba import cuda


@cuda.jit
def order_saxpy(a, x, y, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    scaled = a * x[i]
    out[i] = scaled + y[i]
