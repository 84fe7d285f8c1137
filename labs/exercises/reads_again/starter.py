"""The beginning of the product with two tiles of b and a loop for each sum."""

from numba import cuda, float32

TILE = 16


@cuda.jit
def reads_again(a, b, c):
    # Here: the lines of your two_tiles, about 4 of them changed.
    pass
