"""Submissions to `whole_rows` that ignore the idea of the task."""

from labs.checking.variants import file_beside

HEAD = """from numba import cuda, float32

from utils.intrinsics.wide_memory import load4, store4


@cuda.jit
def whole_rows(x, c):
    row, col, lane = cuda.blockIdx.y * 16, cuda.blockIdx.x * 32, cuda.threadIdx.x
"""
COPY = """    for r in range(16):
        if row + r < c.shape[0] and col + lane < c.shape[1]:
            c[row + r, col + lane] = x[row + r, col + lane]
"""
ONE = """    if lane > 0:
        return
    for r in range(16):
        for j in range(32):
            if row + r < c.shape[0] and col + j < c.shape[1]:
                c[row + r, col + j] = x[row + r, col + j]
"""
LANES = """    if lane % 8:
        return
    for r in range(16):
        for j in range(lane, lane + 8):
            if row + r < c.shape[0] and col + j < c.shape[1]:
                c[row + r, col + j] = x[row + r, col + j]
"""

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "a copy from x to c": HEAD + COPY,
    "a copy by one lane": HEAD + ONE,
    "a copy by four lanes": HEAD + LANES,
    "the rows are stored and not read": [("= rows[r, lane]", "= x[row + r * 4 + i, col + lane]")],
    "whole tiles alone": [
        (
            "    for i in range(4):\n        four",
            "    if c.shape[0] % 16 or c.shape[1] % 32:\n"
            "        return\n    for i in range(4):\n        four",
        )
    ],
}
