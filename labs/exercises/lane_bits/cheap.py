"""Submissions to `lane_bits` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.exercises.lane_bits.wrong import MAP

HEAD = """from numba import cuda, float32


@cuda.jit
def lane_bits(a, b, c):
    row, col, lane = cuda.blockIdx.y * 16, cuda.blockIdx.x * 32, cuda.threadIdx.x
"""
ROWS = """    for i in range({rows}):
        for j in range({columns}):
            c[row + i, col + j] = a[row + i] * b[col + j]
"""

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "bit 3 twice": [(MAP, "lane >> 1 & 7, lane >> 3")],
    "a column per lane": HEAD + ROWS.format(rows="16", columns="lane, lane + 1"),
    "half a row per lane": HEAD
    + ROWS.format(rows="lane // 2, lane // 2 + 1", columns="lane % 2 * 16, lane % 2 * 16 + 16"),
    "one lane does everything": HEAD
    + ROWS.format(rows="0 if lane else 16", columns="32"),
    "quads row by row from global memory": HEAD
    + ROWS.format(rows="lane // 8 * 4, lane // 8 * 4 + 4",
                  columns="lane % 8 * 4, lane % 8 * 4 + 4"),
}  # fmt: skip
