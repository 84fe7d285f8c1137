"""Submissions to `rows_apart` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import naive_product, products

CHEAP = {
    **products("rows_apart", 64, 64, 64),
    "naive, without tiles": naive_product("rows_apart", 64, 64, 64),
    "the starter": file_beside(__file__, "starter"),
}
