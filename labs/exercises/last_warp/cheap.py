"""Submissions to `last_warp` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import block_sums

CHEAP = {
    **block_sums("last_warp(x, partials)", "x[j]"),
    "the starter": file_beside(__file__, "starter"),
}
