"""Submissions to `micro_kernel` that ignore the idea of the task."""

from labs.checking.variants import file_beside

HEAD = """from numba import float32, njit

from utils.intrinsics.simd import broadcast, fmadd, loadu, set1, storeu


@njit
def micro_kernel(a, b, c):
"""
SCALAR = """    for r in range(2):
        for j in range(8):
            total = float32(0)
            for p in range(a.size // 2):
                total += a[2 * p + r] * b[8 * p + j]
            c[8 * r + j] = total
"""
ROWS_APART = """    for r in range(2):
        total = set1(float32(0), 8)
        for p in range(a.size // 2):
            total = fmadd(broadcast(a, 2 * p + r, 8), loadu(b, 8 * p, 8), total)
        storeu(c, 8 * r, total)
"""
IN_MEMORY = """    storeu(c, 0, set1(float32(0), 8))
    storeu(c, 8, set1(float32(0), 8))
    for p in range(a.size // 2):
        for r in range(2):
            total = fmadd(broadcast(a, 2 * p + r, 8), loadu(b, 8 * p, 8), loadu(c, 8 * r, 8))
            storeu(c, 8 * r, total)
"""

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "without vectors": HEAD + SCALAR,
    "one row after the other": HEAD + ROWS_APART,
    "sums in memory": HEAD + IN_MEMORY,
    "zeros": HEAD
    + "    storeu(c, 0, set1(float32(0), 8))\n    storeu(c, 8, set1(float32(0), 8))\n",
    "one step alone": [("range(a.size // 2)", "range(1)")],
}
