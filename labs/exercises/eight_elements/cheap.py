"""Submissions to `eight_elements` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import block_sums

CHEAP = {
    **block_sums("eight_elements(x, partials)", "x[j]", each=8),
    "the starter": file_beside(__file__, "starter"),
}
