"""Other right answers to `order_by_two`."""

HARMLESS = {}

RIGHT = {
    "the solution": [6, 7, 8, 3, 1, 2, 5],
    "the second term first": [6, 7, 3, 8, 1, 2, 5],
    "a loop for the last term": [
        ("    if i < k:\n", "    while i < k:\n"),
        ("        total += a[row, k - 1] * b[k - 1, col]\n",
         "        total += a[row, i] * b[i, col]\n        i += 1\n"),
    ],
}  # fmt: skip
