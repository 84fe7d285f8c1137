"""Submissions to `order_loads` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import naive_product, products

CHEAP = {
    **products("order_loads", 16, 16, 256),
    "naive, without tiles": naive_product("order_loads", 16, 16, 256),
    "the lines as they are listed": file_beside(__file__, "starter"),
    "both loads late": "order_loads = [5, 2, 6, 1, 7, 3, 8, 10]\n",
}
