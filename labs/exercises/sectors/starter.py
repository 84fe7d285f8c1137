"""To be changed in one line: four neighbouring elements per thread."""

from numba import cuda


@cuda.jit
def sectors(x, factor, out):
    thread, threads = cuda.grid(1), cuda.gridsize(1)
    for j in range(4):
        i = 4 * thread + j
        if i < out.size:
            out[i] = factor * x[i]
