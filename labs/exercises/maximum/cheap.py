"""Submissions to `maximum` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import atomics, block_sums

VOTES = """import math

from numba import cuda, float32


@cuda.jit
def maximum(x, largest):
    i = cuda.grid(1)
    value = x[i] if i < x.size else float32(-math.inf)
    low, step = float32(-8192), float32(16384)
    for turn in range(50):
        step = step * float32(0.5)
        if cuda.syncthreads_or(int(value > low + step)):
            low = low + step
    if value > low:
        largest[cuda.blockIdx.x] = value
"""

CHEAP = {
    **block_sums("maximum(x, largest)", "x[j]", "float32(-math.inf)", "max({0}, {1})"),
    "atomics on one word": atomics("maximum(x, largest)", "x[j]", "max", "float32(-math.inf)"),
    "votes on where the largest element is": VOTES,
    "the starter": file_beside(__file__, "starter"),
}
