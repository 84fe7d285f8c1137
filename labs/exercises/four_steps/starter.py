"""The beginning of the product with four rows per thread and four steps of k per iteration."""

from numba import cuda, float32, uint32

TILE = 32


@cuda.jit
def four_steps(a, b, c):
    # Here: the lines of your independent_sums, about 7 of them changed.
    pass
