"""Submissions to `pad_to_fours` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.exercises.pad_to_fours.wrong import BODY, SIDES

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "NumPy computes it": [(BODY, "    return a @ b")],
    "NumPy computes it after a call": [(BODY, "    fast(wide_a, wide_b)\n    return a @ b")],
    "one large padding for all": [(SIDES, "    wide_k, wide_n = 64, 64\n")],
    "element by element": [
        (BODY, "    fast(wide_a[:, :4].copy(), wide_b[:4, :4].copy())\n" + BODY)],
}  # fmt: skip
