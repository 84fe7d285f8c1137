"""Submissions to `four_chains` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import naive_product, products

CHEAP = {
    **products("four_chains", 32, 32, 1024),
    "naive, without tiles": naive_product("four_chains", 32, 32, 1024),
    "the starter": file_beside(__file__, "starter"),
}
