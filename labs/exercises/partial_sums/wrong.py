"""Wrong answers to `partial_sums`: what `check` says, and the changes that earn it."""

from labs.checking.variants import file_beside

HEAD = """\
from numba import float32, njit


@njit
def partial_sums(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    for row in range(m):
        for col in range(n):
            t0, t1, t2, t3 = float32(0), float32(0), float32(0), float32(0)
"""
REST = """\
            for i in range(k - k % 4, k):
                t0 += a[row, i] * b[i, col]
"""
STORE = "            c[row, col] = t0 + t1 + t2 + t3\n"

WRONG = {
    "16 of the 16 terms of a sum are added one after the other": {
        "the starter": file_beside(__file__, "starter"),
        "all to one sum": [("t1 +=", "t0 +="), ("t2 +=", "t0 +="), ("t3 +=", "t0 +=")]},
    "8 of the 16 terms": {
        "two sums": [("t2 +=", "t0 +="), ("t3 +=", "t1 +=")]},
    "the sums are computed one after the other": {
        "one sum after the other": HEAD + """\
            q = k // 4
            for i in range(q):
                t0 += a[row, i] * b[i, col]
            for i in range(q, 2 * q):
                t1 += a[row, i] * b[i, col]
            for i in range(2 * q, 3 * q):
                t2 += a[row, i] * b[i, col]
            for i in range(3 * q, k):
                t3 += a[row, i] * b[i, col]
""" + STORE},
    "the terms i = 4, 5, 6: 3 of 7": {"the left over terms are missing": [(REST, "")]},
    "every sum lacks the terms i = 3, 7, 11 …: 4 of 16": {
        "the last sum is not added": [("t0 + t1 + t2 + t3", "t0 + t1 + t2")]},
    "every sum lacks the terms i = 1, 2, 3 …: 12 of 16": {
        "only the first sum": [("t0 + t1 + t2 + t3", "t0")]},
    "the loop goes to": {
        "groups beyond the end": [(REST, ""), ("range(0, k - k % 4, 4)", "range(0, k, 4)")],
        "every term four times": [("range(0, k - k % 4, 4)", "range(k - k % 4)")]},
}  # fmt: skip
