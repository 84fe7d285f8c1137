"""Submissions to `order_tree` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import atomics, block_sums

CHEAP = {
    **block_sums("order_tree(x, partials)", "x[j]"),
    "atomics on one word": atomics("order_tree(x, partials)", "x[j]"),
    "the lines as they are listed": file_beside(__file__, "starter"),
    "no barrier": "order_tree = [7, 3, 6, 1, 2]\n",
}
