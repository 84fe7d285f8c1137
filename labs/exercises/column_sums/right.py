"""Other right answers to `column_sums`: changes of the solution that `check` accepts."""

HEAD = "from numba import cuda, float32\n\n\n@cuda.jit\ndef column_sums(x, out):\n"

WITH_WHILE = HEAD + """\
    m, n = x.shape
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if col >= n:
        return
    total = float32(0.0)
    row = 0
    while row < m:
        total = total + x[row, col]
        row += 1
    out[col] = total
"""

FIRST_ROW = HEAD + """\
    col = cuda.grid(1)
    if col < out.size:
        total = x[0, col]
        for row in range(1, len(x)):
            total += x[row, col]
        out[col] = total
"""

RIGHT = {
    "a while loop": WITH_WHILE,
    "begins with the first row": FIRST_ROW,
    "the length of out": [("col < x.shape[1]", "col < len(out)")],
    "from the last row on": [("range(x.shape[0])", "range(x.shape[0] - 1, -1, -1)")],
    "a stride of the grid": [
        ("    col = cuda.grid(1)\n    if col < x.shape[1]:",
         "    for col in range(cuda.grid(1), x.shape[1], cuda.gridsize(1)):")],
}  # fmt: skip
