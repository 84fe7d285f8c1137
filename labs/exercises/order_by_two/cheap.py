"""Submissions to `order_by_two` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import naive_product, products

CHEAP = {
    **products("order_by_two", 8, 32, 256),
    "naive, without tiles": naive_product("order_by_two", 8, 32, 256),
    "the lines as they are listed": file_beside(__file__, "starter"),
}
