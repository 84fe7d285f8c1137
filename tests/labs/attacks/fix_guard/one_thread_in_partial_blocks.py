"""Lets one thread work for its block where blocks are partial."""

from numba import cuda


@cuda.jit
def fix_guard(x, factor, out):
    if out.shape[0] % 8 == 0 and out.shape[1] % 32 == 0:
        col, row = cuda.grid(2)
        if row < out.shape[0] and col < out.shape[1]:
            out[row, col] = factor * x[row, col]
    else:
        if cuda.threadIdx.x == 0 and cuda.threadIdx.y == 0:
            top, left = cuda.blockIdx.y * cuda.blockDim.y, cuda.blockIdx.x * cuda.blockDim.x
            for r in range(top, min(top + cuda.blockDim.y, out.shape[0])):
                for q in range(left, min(left + cuda.blockDim.x, out.shape[1])):
                    out[r, q] = factor * x[r, q]
