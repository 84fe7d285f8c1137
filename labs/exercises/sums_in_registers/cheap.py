"""Submissions to `sums_in_registers` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import naive_product, products

CHEAP = {
    **products("sums_in_registers", 8, 256, 256),
    "naive, without tiles": naive_product("sums_in_registers", 8, 256, 256),
    "the starter": file_beside(__file__, "starter"),
}
