"""The lines of packing in order."""

from numba import njit


@njit
def order_packing(b, panels):
    k, n = b.shape
    at = 0
    for first in range(0, n, 8):
        for p in range(k):
            for col in range(first, first + 8):
                panels[at] = b[p, col]
                at += 1
