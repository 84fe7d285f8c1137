"""A micro-kernel: a tile of 2×8 from two packed panels."""

from numba import float32, njit

from utils.intrinsics.simd import broadcast, fmadd, loadu, set1, storeu


@njit
def micro_kernel(a, b, c):
    c0 = c1 = set1(float32(0), 8)
    for p in range(a.size // 2):
        # One vector of b serves both rows of the tile.
        row = loadu(b, 8 * p, 8)
        c0 = fmadd(broadcast(a, 2 * p, 8), row, c0)
        c1 = fmadd(broadcast(a, 2 * p + 1, 8), row, c1)
    storeu(c, 0, c0)
    storeu(c, 8, c1)
