"""Submissions to `dot` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import atomics, block_sums

CHEAP = {
    **block_sums("dot(x, y, partials)", "x[j] * y[j]"),
    "atomics on one word": atomics("dot(x, y, partials)", "x[j] * y[j]"),
    "the starter": file_beside(__file__, "starter"),
}
