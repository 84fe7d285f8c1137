"""Uses its idea only where all blocks are full."""

from numba import cuda


@cuda.jit
def sectors(x, factor, out):
    thread, threads = cuda.grid(1), cuda.gridsize(1)
    for j in range(4):
        i = thread + threads * j if x.size % 1024 == 0 else 4 * thread + j
        if i < out.size:
            out[i] = factor * x[i]
