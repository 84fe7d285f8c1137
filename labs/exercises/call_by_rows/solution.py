"""A call of a library that reads columns, with matrices in rows: b goes first."""


def call_by_rows(sgemm, a, b, c):
    (m, k), n = a.shape, b.shape[1]
    sgemm(n, m, k, b, n, a, k, c, n)
