"""Uses its idea only where groups fill the sum."""

from numba import float32, njit


@njit
def partial_sums(a, b, c):
    if a.shape[1] % 4 == 0:
        m, k = a.shape
        n = b.shape[1]
        for row in range(m):
            for col in range(n):
                t0, t1, t2, t3 = float32(0), float32(0), float32(0), float32(0)
                for i in range(0, k - k % 4, 4):
                    t0 += a[row, i] * b[i, col]
                    t1 += a[row, i + 1] * b[i + 1, col]
                    t2 += a[row, i + 2] * b[i + 2, col]
                    t3 += a[row, i + 3] * b[i + 3, col]
                for i in range(k - k % 4, k):
                    t0 += a[row, i] * b[i, col]
                c[row, col] = t0 + t1 + t2 + t3
    else:
        for r in range(a.shape[0]):
            for q in range(b.shape[1]):
                s = float32(0)
                for p in range(a.shape[1]):
                    s += a[r, p] * b[p, q]
                c[r, q] = s
