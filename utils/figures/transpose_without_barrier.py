"""A kernel with a race and bank conflicts, for the README's picture of a trace."""

from numba import cuda, float32


@cuda.jit
def transpose(x, out):
    tile = cuda.shared.array((32, 32), float32)
    j, i = cuda.grid(2)
    tile[i, j] = x[i, j]
    out[i, j] = tile[j, i]
