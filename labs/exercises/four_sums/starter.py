"""To be changed: a micro-kernel of 2×8 with two sums, which takes two steps per iteration."""

from numba import float32, njit

from utils.intrinsics.simd import broadcast, fmadd, loadu, set1, storeu


@njit
def four_sums(a, b, c):
    one = set1(float32(1), 8)  # fmadd(one, x, y) is x + y
    c0 = c1 = set1(float32(0), 8)
    for p in range(0, a.size // 2, 2):
        row = loadu(b, 8 * p, 8)
        c0 = fmadd(broadcast(a, 2 * p, 8), row, c0)
        c1 = fmadd(broadcast(a, 2 * p + 1, 8), row, c1)
        row = loadu(b, 8 * p + 8, 8)
        c0 = fmadd(broadcast(a, 2 * p + 2, 8), row, c0)
        c1 = fmadd(broadcast(a, 2 * p + 3, 8), row, c1)
    storeu(c, 0, c0)
    storeu(c, 8, c1)
