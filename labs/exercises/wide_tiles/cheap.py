"""Submissions to `wide_tiles` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import naive_product, products

CHEAP = {
    **products("wide_tiles", 128, 128, 256),
    "naive, without tiles": naive_product("wide_tiles", 128, 128, 256),
    "the starter": file_beside(__file__, "starter"),
}
