"""Submissions to `single_precision` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import products

ADJACENT = "adjacent elements in each thread"  # with one element per thread that is right

PRODUCTS = products("single_precision", 8, 32, 256)

CHEAP = {
    **{what: text for what, text in PRODUCTS.items() if what != ADJACENT},
    "the starter": file_beside(__file__, "starter"),
    "zeros": PRODUCTS[ADJACENT].replace("total += ", "total += 0 * "),
}
