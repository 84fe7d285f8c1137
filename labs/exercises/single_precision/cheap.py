"""Submissions to `single_precision` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import products

ADJACENT = "adjacent elements in each thread"  # with one element per thread that is right

CHEAP = {
    **{what: text for what, text in products("single_precision", 8, 32, 256).items() if what != ADJACENT},
    "the starter": file_beside(__file__, "starter"),
    "zeros": products("single_precision", 8, 32, 256)[ADJACENT].replace("total += ", "total += 0 * "),
}
