"""Submissions to `maximum` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import atomics, block_sums

CHEAP = {
    **block_sums("maximum(x, largest)", "x[j]", "float32(-math.inf)", "max({0}, {1})"),
    "atomics on one word": atomics("maximum(x, largest)", "x[j]", "max", "float32(-math.inf)"),
    "the starter": file_beside(__file__, "starter"),
}
