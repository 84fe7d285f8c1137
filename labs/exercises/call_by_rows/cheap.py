"""Submissions to `call_by_rows` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.exercises.call_by_rows.wrong import CALL

BY_WAY_OF_A = """    right = a @ b
    first_of_a, first_of_b = a[0, 0].copy(), b[0, 0].copy()
    b[0, 0] = 1
    for i in range(m):
        for j in range(n):
            a[0, 0] = right[i, j]
            sgemm(1, 1, 1, a, 1, b, 1, c[i, j:], 1)
    a[0, 0], b[0, 0] = first_of_a, first_of_b
"""

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "NumPy computes it": [(CALL, "    c[:] = a @ b\n")],
    "NumPy computes it after a call for show": [
        (CALL, "    sgemm(1, 1, 1, b, 1, a, 1, c, 1)\n    c[:] = a @ b\n")],
    "NumPy, with all calls of one term": [
        (CALL, "    sgemm(n, m, 1, b, n, a, k, c, n)\n    c[:] = a @ b\n")],
    "the product of the host, word by word by way of `a`": [(CALL, BY_WAY_OF_A)],
    "a call for each element": [
        (CALL, "    for i in range(m):\n        for j in range(n):\n"
         "            sgemm(1, 1, k, b[:, j], n, a[i], k, c[i, j:], 1)\n")],
    "right for square matrices only": [
        (CALL, "    sgemm(m, m, m, b, m, a, m, c, m)\n")],
}  # fmt: skip
