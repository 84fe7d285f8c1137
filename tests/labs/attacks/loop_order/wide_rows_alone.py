"""Three loops in the order m, k, n: the innermost one runs along a row of b and a row of c."""

from numba import float32, njit


@njit
def loop_order(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    if n > 5:
        for row in range(m):
            for col in range(n):
                c[row, col] = float32(0)
            for i in range(k):
                for col in range(n):
                    c[row, col] += a[row, i] * b[i, col]
    else:
        for row in range(m):
            for col in range(n):
                total = float32(0)
                for i in range(k):
                    total += a[row, i] * b[i, col]
                c[row, col] = total
