"""Submissions to `tree` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import atomics, block_sums

CHEAP = {
    **block_sums("tree(x, partials)", "x[j]"),
    "atomics on one word": atomics("tree(x, partials)", "x[j]"),
    "the starter": file_beside(__file__, "starter"),
    "the tree of reduce0": file_beside(__file__, "starter").replace(
        "        left = uint32(2 * stride * tid)\n        if left < cuda.blockDim.x:\n"
        "            shared[left] += shared[left + stride]\n",
        "        if tid % uint32(2 * stride) == 0:\n"
        "            shared[tid] += shared[tid + stride]\n",
    ),
}
