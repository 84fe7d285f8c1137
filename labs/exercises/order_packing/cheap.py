"""Submissions to `order_packing` that ignore the idea of the task."""

from labs.checking.variants import file_beside

CHEAP = {
    "the lines as they are listed": file_beside(__file__, "starter"),
    "the order that b has": "order_packing = [7, 1, 6, 2, 5, 3]\n",
    "one place": "order_packing = [7, 4, 8, 2, 5]\n",
    "the first panel alone": [("for first in range(0, n, 8)", "for first in range(0, 8, 8)")],
    "the first step alone": [("for p in range(k)", "for p in range(1)")],
}
