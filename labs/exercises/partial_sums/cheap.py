"""Submissions to `partial_sums` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.exercises.partial_sums.wrong import HEAD, REST, STORE

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "one addition per group": HEAD + """\
            for i in range(0, k - k % 4, 4):
                t0 += (a[row, i] * b[i, col] + a[row, i + 1] * b[i + 1, col]
                       + a[row, i + 2] * b[i + 2, col] + a[row, i + 3] * b[i + 3, col])
""" + REST + STORE,
    "one sum under four names": HEAD + """\
            for i in range(0, k - k % 4, 4):
                t1 = t0 + a[row, i] * b[i, col]
                t2 = t1 + a[row, i + 1] * b[i + 1, col]
                t3 = t2 + a[row, i + 2] * b[i + 2, col]
                t0 = t3 + a[row, i + 3] * b[i + 3, col]
""" + REST + "            c[row, col] = t0\n",
    "the first group alone in four sums": HEAD + """\
            if k >= 4:
                t1 += a[row, 1] * b[1, col]
                t2 += a[row, 2] * b[2, col]
                t3 += a[row, 3] * b[3, col]
                t0 += a[row, 0] * b[0, col]
            for i in range(4 * min(k // 4, 1), k):
                t0 += a[row, i] * b[i, col]
""" + STORE,
    "sums in memory": HEAD + """\
            c[row, col] = t0
            for i in range(k):
                c[row, col] += a[row, i] * b[i, col]
""",
    "zeros": HEAD + STORE,
}  # fmt: skip
