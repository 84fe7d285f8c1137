"""Other right answers to `partial_sums`: changes of the solution that `check` accepts."""

from labs.exercises.partial_sums.wrong import HEAD, REST

GROUPS = """\
            for i in range(0, k - k % 4, 4):
                t0 += a[row, i] * b[i, col]
                t1 += a[row, i + 1] * b[i + 1, col]
                t2 += a[row, i + 2] * b[i + 2, col]
                t3 += a[row, i + 3] * b[i + 3, col]
"""

RIGHT = {
    "two pairs at the end": [("t0 + t1 + t2 + t3", "(t0 + t1) + (t2 + t3)")],
    "whole groups by division": [("range(0, k - k % 4, 4)", "range(0, k // 4 * 4, 4)")],
    "ends before the last three": [("range(0, k - k % 4, 4)", "range(0, k - 3, 4)")],
    "the number of the group": [
        (GROUPS, """\
            for group in range(k // 4):
                i = 4 * group
                t0 += a[row, i] * b[i, col]
                t1 += a[row, i + 1] * b[i + 1, col]
                t2 += a[row, i + 2] * b[i + 2, col]
                t3 += a[row, i + 3] * b[i + 3, col]
""")],
    "while": [
        (GROUPS + REST, """\
            i = 0
            while i + 3 < k:
                t0 += a[row, i] * b[i, col]
                t1 += a[row, i + 1] * b[i + 1, col]
                t2 += a[row, i + 2] * b[i + 2, col]
                t3 += a[row, i + 3] * b[i + 3, col]
                i += 4
            while i < k:
                t0 += a[row, i] * b[i, col]
                i += 1
""")],
    "the left over terms by tests": [
        (REST, """\
            rest = k - k % 4
            if rest < k:
                t0 += a[row, rest] * b[rest, col]
            if rest + 1 < k:
                t1 += a[row, rest + 1] * b[rest + 1, col]
            if rest + 2 < k:
                t2 += a[row, rest + 2] * b[rest + 2, col]
""")],
    "quarters of the row": HEAD + """\
            q = k // 4
            for i in range(q):
                t0 += a[row, i] * b[i, col]
                t1 += a[row, i + q] * b[i + q, col]
                t2 += a[row, i + 2 * q] * b[i + 2 * q, col]
                t3 += a[row, i + 3 * q] * b[i + 3 * q, col]
            for i in range(4 * q, k):
                t0 += a[row, i] * b[i, col]
            c[row, col] = t0 + t1 + t2 + t3
""",
    "remainders": HEAD + """\
            for i in range(k):
                if i % 4 == 0:
                    t0 += a[row, i] * b[i, col]
                elif i % 4 == 1:
                    t1 += a[row, i] * b[i, col]
                elif i % 4 == 2:
                    t2 += a[row, i] * b[i, col]
                else:
                    t3 += a[row, i] * b[i, col]
            c[row, col] = t0 + t1 + t2 + t3
""",
}  # fmt: skip

HARMLESS = {
    "names_exchanged in `t0, t1, t2, t3 = float32(0), float32(0), float32(0), float32(0)`":
        "all four begin at zero",
}  # fmt: skip
