"""A micro-kernel: a tile of 2×8 from two packed panels."""

from numba import float32, njit

from utils.intrinsics.simd import broadcast, fmadd, loadu, set1, storeu


@njit
def micro_kernel(a, b, c):
    # About 7 lines: two sums that start at zero, the loop over p, and two stores at the end.
    pass
