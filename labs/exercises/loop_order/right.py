"""Other right answers to `loop_order`: changes of the solution that `check` accepts."""

from labs.exercises.loop_order.wrong import HEAD

RIGHT = {
    "i outside": HEAD + """\
    c[:, :] = 0
    for i in range(k):
        for row in range(m):
            for col in range(n):
                c[row, col] += a[row, i] * b[i, col]
""",
    "the factor of a in a variable": HEAD + """\
    for row in range(m):
        c[row] = 0.0
        for i in range(k):
            factor = a[row, i]
            for col in range(n):
                c[row, col] += factor * b[i, col]
""",
    "views of rows": HEAD + """\
    for row in range(m):
        sums = c[row]
        for col in range(n):
            sums[col] = 0
        for i in range(k):
            factor, across = a[row, i], b[i]
            for col in range(n):
                sums[col] += factor * across[col]
""",
    "the first term stored": HEAD + """\
    for row in range(m):
        for col in range(n):
            c[row, col] = a[row, 0] * b[0, col]
        for i in range(1, k):
            for col in range(n):
                c[row, col] += a[row, i] * b[i, col]
""",
    "zeroed where i is 0": HEAD + """\
    for row in range(m):
        for i in range(k):
            for col in range(n):
                if i == 0:
                    c[row, col] = 0
                c[row, col] += a[row, i] * b[i, col]
""",
    "while": HEAD + """\
    row = 0
    while row < m:
        c[row] = 0
        i = 0
        while i < k:
            for col in range(n):
                c[row, col] = c[row, col] + a[row, i] * b[i, col]
            i += 1
        row += 1
""",
    "backwards": HEAD + """\
    c.fill(0)
    for row in range(m - 1, -1, -1):
        for i in range(k - 1, -1, -1):
            for col in range(n - 1, -1, -1):
                c[row, col] += a[row, i] * b[i, col]
""",
    "two terms at a time": HEAD + """\
    c[:] = 0
    for row in range(m):
        for i in range(0, k - k % 2, 2):
            for col in range(n):
                c[row, col] += a[row, i] * b[i, col] + a[row, i + 1] * b[i + 1, col]
        if k % 2:
            for col in range(n):
                c[row, col] += a[row, k - 1] * b[k - 1, col]
""",
}

# Slips that change nothing.
HARMLESS = {"float64 in `c[row, col] = float32(0)`": "what is stored in c becomes float32 again"}
