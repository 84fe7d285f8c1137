from numba import njit


@njit
def loop_order(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    for row in range(m):
        for col in range(0, n, 2):
            for i in range(k):
                for cc in range(col, min(n, col + 2)):
                    if i == 0:
                        c[row, cc] = a[row, i] * b[i, cc]
                    else:
                        c[row, cc] += a[row, i] * b[i, cc]
