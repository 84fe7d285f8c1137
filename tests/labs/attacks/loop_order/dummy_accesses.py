from numba import float32, njit


@njit
def loop_order(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    for row in range(m):
        for col in range(n):
            total = float32(0)
            for i in range(k):
                total += a[row, i] * b[i, col]     # down a column of b, as before
            c[row, col] = total
    for j in range(2 * m * n * k + 1):
        total = a[0, 0]
