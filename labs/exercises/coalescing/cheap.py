"""Submissions to `coalescing` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import products

ADJACENT = "adjacent elements in each thread"  # with one element per thread that is right

CHEAP = {
    **{what: text for what, text in products("coalescing", 8, 32, 256).items() if what != ADJACENT},
    "the starter": file_beside(__file__, "starter"),
    "zeros": products("coalescing", 8, 32, 256)[ADJACENT].replace("total += ", "total += 0 * "),
}
