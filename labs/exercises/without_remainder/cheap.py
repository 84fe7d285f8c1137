"""Submissions to `without_remainder` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import atomics, block_sums

CHEAP = {
    **block_sums("without_remainder(x, partials)", "x[j]"),
    "atomics on one word": atomics("without_remainder(x, partials)", "x[j]"),
    "the starter": file_beside(__file__, "starter"),
}
