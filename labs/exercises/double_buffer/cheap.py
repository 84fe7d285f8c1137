"""Submissions to `double_buffer` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import naive_product, products

CHEAP = {
    **products("double_buffer", 16, 16, 256),
    "naive, without tiles": naive_product("double_buffer", 16, 16, 256),
    "the starter": file_beside(__file__, "starter"),
}
