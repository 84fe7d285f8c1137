"""Uses its idea only where all blocks are full."""

from numba import cuda


@cuda.jit
def four_loads(x, out):
    first = cuda.blockIdx.x * 1024 + cuda.threadIdx.x
    if x.size % 1024 == 0:
        x0, x1, x2, x3 = x[first], x[first + 256], x[first + 512], x[first + 768]
        out[first] = x0
        out[first + 256] = x1
        out[first + 512] = x2
        out[first + 768] = x3
    else:
        for j in range(4):
            i = first + 256 * j
            if i < x.size:
                out[i] = x[i]
