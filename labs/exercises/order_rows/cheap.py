"""Submissions to `order_rows` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import naive_product, products

CHEAP = {
    **products("order_rows", 32, 32, 256),
    "naive, without tiles": naive_product("order_rows", 32, 32, 256),
    "the lines as they are listed": file_beside(__file__, "starter"),
}
