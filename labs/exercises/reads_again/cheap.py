"""Submissions to `reads_again` that ignore the idea of the task."""

from labs.families.cheap import naive_product, products

CHEAP = {
    **products("reads_again", 16, 32, 256),
    "naive, without tiles": naive_product("reads_again", 16, 32, 256),
}
