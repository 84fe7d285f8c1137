"""Submissions to `eight_rows` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import naive_product, products

CHEAP = {
    **products("eight_rows", 32, 64, 256),
    "naive, without tiles": naive_product("eight_rows", 32, 64, 256),
    "sums of integers": [
        ("TM, float32)", "TM, int32)"), ("cuda, float32", "cuda, float32, int32"),
        ("+= sa[y + i, z] * from_b", "+= int32(sa[y + i, z]) * int32(from_b)")],
    "the starter": file_beside(__file__, "starter"),
}  # fmt: skip
