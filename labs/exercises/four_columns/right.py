"""Other right answers to `four_columns`: changes of the solution that `check` accepts."""

HEAD = "from numba import cuda, float32\n\n\n@cuda.jit\ndef four_columns(a, b, c):\n"

FOUR_TOTALS = HEAD + """\
    m, n, k = a.shape[0], b.shape[1], a.shape[1]
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * 128 + cuda.threadIdx.x
    if row < m:
        t0, t1, t2, t3 = float32(0), float32(0), float32(0), float32(0)
        for i in range(k):
            one = a[row, i]
            if col < n:
                t0 += one * b[i, col]
            if col + 32 < n:
                t1 += one * b[i, col + 32]
            if col + 64 < n:
                t2 += one * b[i, col + 64]
            if col + 96 < n:
                t3 += one * b[i, col + 96]
        if col < n:
            c[row, col] = t0
        if col + 32 < n:
            c[row, col + 32] = t1
        if col + 64 < n:
            c[row, col + 64] = t2
        if col + 96 < n:
            c[row, col + 96] = t3
"""

CLAMPED = HEAD + """\
    m, k = a.shape
    n = b.shape[1]
    row = cuda.blockIdx.y * 8 + cuda.threadIdx.y
    first = cuda.blockIdx.x * 128 + cuda.threadIdx.x
    if row >= m or first >= n:
        return
    totals = cuda.local.array(4, float32)
    for j in range(4):
        totals[j] = 0
    for i in range(k):
        from_a = a[row, i]
        for j in range(4):
            totals[j] += from_a * b[i, min(first + 32 * j, n - 1)]
    for j in range(4):
        if first + 32 * j < n:
            c[row, first + 32 * j] = totals[j]
"""

COUNTED = HEAD + """\
    m, k = a.shape
    n = b.shape[1]
    row = cuda.blockIdx.y * 8 + cuda.threadIdx.y
    col = cuda.blockIdx.x * 128 + cuda.threadIdx.x
    if row >= m or col >= n:
        return
    columns = min(4, (n - col + 31) // 32)
    totals = cuda.local.array(4, float32)
    for j in range(columns):
        totals[j] = float32(0)
    for i in range(k):
        from_a = a[row, i]
        for j in range(columns):
            totals[j] += from_a * b[i, col + 32 * j]
    for j in range(columns):
        c[row, col + 32 * j] = totals[j]
"""
RIGHT = {
    "four totals": FOUR_TOTALS,
    "loads of the last column": CLAMPED,
    "counted": COUNTED,
    "columns in another order": [("32 * j", "32 * (3 - j)"), (" or col >= n", "")],
}

# The solution tests each column by itself, so these slips change nothing.
HARMLESS = {
    "one_too_far in `if row >= m or col >= n:`": "the tests of each column stop column n, too",
    "constant_one_more in `totals = cuda.local.array(4, float32)`": "a fifth total is not used",
    "float64 in `totals[j] = float32(0)`": "what is stored in a float32 array is float32",
}
