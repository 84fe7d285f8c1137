"""Other right answers to `coalescing`: changes of the solution that `check` accepts."""

GRID_STRIDE = """from numba import cuda, float32


@cuda.jit
def coalescing(a, b, c):
    m, n, k = a.shape[0], b.shape[1], a.shape[1]
    x, y = cuda.grid(2)
    for row in range(y, m, cuda.gridDim.y * 8):
        for col in range(x, n, cuda.gridDim.x * 32):
            total = float32(0)
            for i in range(k):
                total += a[row, i] * b[i, col]
            c[row, col] = total
"""

RIGHT = {
    "a stride of the grid": GRID_STRIDE,
    "range": [
        ("    i = 0\n    while i < k:\n", "    for i in range(k):\n"),
        ("        i += 1\n", ""),
    ],
    "tests that hold for inside": [
        ("    if row >= m or col >= n:\n        return\n", "    if not (row < m and col < n):\n"
         "        return\n"),
    ],
    "numbers of block and thread": [
        ("    x, y = cuda.grid(2)\n", ""),
        (
            "row, col = y, x",
            "row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y\n"
            "    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x",
        ),
    ],
    "backwards, and other names": [
        ("(a, b, c)", "(left, right, out)"),
        ("a.shape", "left.shape"),
        ("b.shape", "right.shape"),
        ("    i = 0\n    while i < k:\n", "    i = k - 1\n    while i >= 0:\n"),
        ("a[row, i] * b[i, col]", "left[row, i] * right[i, col]"),
        ("i += 1", "i -= 1"),
        ("c[row, col]", "out[row, col]"),
    ],
    "unrolled by two, with its tail": [
        ("i < k", "i + 1 < k"),
        ("        i += 1\n", "        total += a[row, i + 1] * b[i + 1, col]\n        i += 2\n"
         "    if i < k:\n        total += a[row, i] * b[i, col]\n"),
    ],
}  # fmt: skip
