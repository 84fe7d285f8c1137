"""Submissions to `transpose` that ignore the idea of the task."""

PLAIN = """from numba import cuda, float32


@cuda.jit
def transpose(a, out):
    col, row = cuda.grid(2)
"""
COPY = "if row < a.shape[0] and col < a.shape[1]:\n        out[col, row] = a[row, col]\n"
HEAD = """from numba import cuda, float32


@cuda.jit
def transpose(a, out):
    t = cuda.threadIdx.y * 32 + cuda.threadIdx.x
"""
LOOP = """    for e in range({}):
        row, col = cuda.blockIdx.y * 32 + e // 32, cuda.blockIdx.x * 32 + e % 32
        if row < a.shape[0] and col < a.shape[1]:
            out[col, row] = a[row, col]
"""

CHEAP = {
    "without a tile": PLAIN + "    " + COPY,
    "without a tile, along the rows of out": (
        PLAIN.replace(
            "col, row = cuda.grid(2)",
            "row = cuda.blockIdx.y * 32 + cuda.threadIdx.x\n"
            "    col = cuda.blockIdx.x * 32 + cuda.threadIdx.y",
        )
        + "    "
        + COPY
    ),
    "one lane of each warp does the work of all": (
        HEAD + "    if t % 32:\n        return\n" + LOOP.format("t, t + 32")
    ),
    "one warp of each block does everything": (
        HEAD + "    if t >= 32:\n        return\n" + LOOP.format("t, 1024, 32")
    ),
    "a tile that nobody reads": [("= tile[tx, ty]", "= a[col, row]")],
    "whole tiles alone": [("    tx, ty", "    if m % 32 or n % 32:\n        return\n    tx, ty")],
}
