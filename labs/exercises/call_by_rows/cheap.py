"""Submissions to `call_by_rows` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.exercises.call_by_rows.wrong import CALL

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "NumPy computes it": [(CALL, "    c[:] = a @ b\n")],
    "NumPy computes it after a call for show": [
        (CALL, "    sgemm(1, 1, 1, b, 1, a, 1, c, 1)\n    c[:] = a @ b\n")],
    "NumPy, with all calls of one term": [
        (CALL, "    sgemm(n, m, 1, b, n, a, k, c, n)\n    c[:] = a @ b\n")],
    "right for square matrices only": [
        (CALL, "    sgemm(m, m, m, b, m, a, m, c, m)\n")],
}  # fmt: skip
