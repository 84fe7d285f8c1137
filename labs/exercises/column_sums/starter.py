"""To be written: the sum of each column."""

from numba import cuda, float32


@cuda.jit
def column_sums(x, out):
    # About 6 lines: which column is this thread's, is there such a column, and its sum.
    pass
