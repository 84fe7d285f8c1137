"""Submissions to `tiling` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import naive_product, products

CHEAP = {
    **products("tiling", 16, 16, 256),
    "naive, without tiles": naive_product("tiling", 16, 16, 256),
    "the starter": file_beside(__file__, "starter"),
}
