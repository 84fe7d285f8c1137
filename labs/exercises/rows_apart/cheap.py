"""Submissions to `rows_apart` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import naive_product, products

CHEAP = {
    **products("rows_apart", 64, 64, 64),
    "naive, without tiles": naive_product("rows_apart", 64, 64, 64),
    "sums of integers": [
        ("sums = cuda.local.array((8, 8), float32)", "sums = cuda.local.array((8, 8), int32)"),
        ("from_a[i] * from_b[j]", "int32(from_a[i]) * int32(from_b[j])"),
        ("cuda, float32", "cuda, float32, int32")],
    "the starter": file_beside(__file__, "starter"),
}  # fmt: skip
