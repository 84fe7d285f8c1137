"""Submissions to `wide_tiles` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import naive_product, products

CHEAP = {
    **products("wide_tiles", 128, 128, 256),
    "naive, without tiles": naive_product("wide_tiles", 128, 128, 256),
    "sums of integers": [
        ("sums = cuda.local.array((8, 8), float32)", "sums = cuda.local.array((8, 8), int32)"),
        ("of_a[i] * of_b[j]", "int32(of_a[i]) * int32(of_b[j])"),
        *((f" sums[i, {j}]", f" float32(sums[i, {j}])") for j in (1, 2, 3, 5, 6, 7)),
        *((f"(sums[i, {j}]", f"(float32(sums[i, {j}])") for j in (0, 4)),
        ("import cuda, float32", "import cuda, float32, int32")],
    "the starter": file_beside(__file__, "starter"),
}  # fmt: skip
