"""Lets one thread work for its block where blocks are partial."""

from numba import cuda


@cuda.jit
def order_saxpy(a, x, y, out):
    if out.size % 256 == 0:
        i = cuda.grid(1)
        if i >= out.size:
            return
        scaled = a * x[i]
        out[i] = scaled + y[i]
    else:
        if cuda.threadIdx.x == 0:
            first = cuda.blockIdx.x * cuda.blockDim.x
            for j in range(first, min(first + cuda.blockDim.x, out.size)):
                out[j] = a * x[j] + y[j]
