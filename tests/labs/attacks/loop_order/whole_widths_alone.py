"""Uses its idea only where n is a multiple of 8."""

from numba import float32, njit


@njit
def loop_order(a, b, c):
    if b.shape[1] % 8 == 0:
        m, k = a.shape
        n = b.shape[1]
        for row in range(m):
            for col in range(n):
                c[row, col] = float32(0)
            for i in range(k):
                for col in range(n):
                    c[row, col] += a[row, i] * b[i, col]
    else:
        for r in range(a.shape[0]):
            for q in range(b.shape[1]):
                s = float32(0)
                for p in range(a.shape[1]):
                    s += a[r, p] * b[p, q]
                c[r, q] = s
