"""A call of a library that reads columns, with matrices in rows: to be repaired."""


def call_by_rows(sgemm, a, b, c):
    (m, k), n = a.shape, b.shape[1]
    sgemm(m, n, k, a, k, b, n, c, n)
