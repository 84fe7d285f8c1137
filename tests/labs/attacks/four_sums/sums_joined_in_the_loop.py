"""A micro-kernel of 2×8 with four sums: two for the even steps, and two for the odd ones."""

from numba import float32, njit

from utils.intrinsics.simd import broadcast, fmadd, loadu, set1, storeu


@njit
def four_sums(a, b, c):
    one = set1(float32(1), 8)
    c0 = c1 = d0 = d1 = set1(float32(0), 8)
    for p in range(0, a.size // 2, 2):
        row = loadu(b, 8 * p, 8)
        c0 = fmadd(broadcast(a, 2 * p, 8), row, c0)
        c1 = fmadd(broadcast(a, 2 * p + 1, 8), row, c1)
        row = loadu(b, 8 * p + 8, 8)
        d0 = fmadd(broadcast(a, 2 * p + 2, 8), row, d0)
        d1 = fmadd(broadcast(a, 2 * p + 3, 8), row, d1)
        zero = set1(float32(0), 8)
        c0 = fmadd(zero, d0, c0)
        d0 = fmadd(zero, c0, d0)
        c1 = fmadd(zero, d1, c1)
        d1 = fmadd(zero, c1, d1)
    storeu(c, 0, fmadd(one, c0, d0))
    storeu(c, 8, fmadd(one, c1, d1))
