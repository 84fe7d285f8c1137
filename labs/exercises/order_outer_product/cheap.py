"""Submissions to `order_outer_product` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import naive_product, products

CHEAP = {
    **products("order_outer_product", 32, 32, 64),
    "naive, without tiles": naive_product("order_outer_product", 32, 32, 64),
    "the lines as they are listed": file_beside(__file__, "starter"),
    "sums of integers": [
        ("sums = cuda.local.array((4, 4), float32)", "sums = cuda.local.array((4, 4), int32)"),
        ("from_a[p] * from_b[q]", "int32(from_a[p]) * int32(from_b[q])"),
        ("cuda, float32", "cuda, float32, int32"),
    ],
    "no registers": "order_outer_product = [6, 8, 5, 7, 3]\n",
}
