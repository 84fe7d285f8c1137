"""A product whose sums over k are cut in four slices: the sums are missing."""

from numba import cuda, float32

SLICES = 4


@cuda.jit
def cut_along_k(a, b, partials):
    (m, k), n = a.shape, b.shape[1]
    col, row = cuda.grid(2)
    piece = cuda.blockIdx.z
    # About 5 lines: a guard, the sum over one slice of k, and the store.
