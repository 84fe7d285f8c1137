"""Submissions to `partial_sums` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.exercises.partial_sums.wrong import HEAD

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "one addition per group": HEAD + """\
            for i in range(0, k - k % 4, 4):
                t0 += (a[row, i] * b[i, col] + a[row, i + 1] * b[i + 1, col]
                       + a[row, i + 2] * b[i + 2, col] + a[row, i + 3] * b[i + 3, col])
            for i in range(k - k % 4, k):
                t0 += a[row, i] * b[i, col]
            c[row, col] = t0 + t1 + t2 + t3
""",
}
