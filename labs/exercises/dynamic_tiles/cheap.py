"""Submissions to `dynamic_tiles` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import naive_product, products

SIDE = "cuda.blockDim.x"
LAUNCH = "dynamic_tiles", SIDE, SIDE, f"{SIDE} * {SIDE}"

CHEAP = {
    **products(*LAUNCH),
    "naive, without tiles": naive_product(*LAUNCH),
    "the starter": file_beside(__file__, "starter"),
}
