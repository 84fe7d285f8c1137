"""Submissions to `row_length` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.exercises.row_length.wrong import LENGTH

HEAD = """from numba import cuda


@cuda.jit
def row_length(x, out):
    first, lane = cuda.blockIdx.x * 4, cuda.threadIdx.x
"""

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "rows of 64 words": [(LENGTH, "(4, 64)")],
    "a copy without shared memory": HEAD
    + "    for r in range(4):\n        out[first + r, lane] = x[first + r, lane]\n",
    "a copy by one lane": HEAD
    + "    if lane == 0:\n        for r in range(4):\n            for j in range(32):\n"
    "                out[first + r, j] = x[first + r, j]\n",
    "a copy by four lanes": HEAD
    + "    if lane < 4:\n        for j in range(32):\n"
    "            out[first + lane, j] = x[first + lane, j]\n",
    "rows that are stored and not read": [
        (LENGTH, "(4, 32)"), ("= rows[r, lane]", "= x[first + r, lane]")],
}  # fmt: skip
