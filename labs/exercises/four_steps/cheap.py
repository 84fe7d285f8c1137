"""Submissions to `four_steps` that ignore the idea of the task."""

from labs.families.cheap import naive_product, products

CHEAP = {
    **products("four_steps", 32, 32, 256),
    "naive, without tiles": naive_product("four_steps", 32, 32, 256),
}
