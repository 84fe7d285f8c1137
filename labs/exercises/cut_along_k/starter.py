"""A product whose sums over k are cut in four slices: the sums are missing."""

from numba import cuda, float32

SLICES = 4


@cuda.jit
def cut_along_k(a, b, partials):
    (m, k), n = a.shape, b.shape[1]
    # About 8 lines: column, row and slice of this thread, a guard, a sum, and the store.
