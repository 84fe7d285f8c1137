"""Submissions to `two_tiles` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import naive_product, products

CHEAP = {
    **products("two_tiles", 16, 32, 256),
    "naive, without tiles": naive_product("two_tiles", 16, 32, 256),
    "the starter": file_beside(__file__, "starter"),
}
