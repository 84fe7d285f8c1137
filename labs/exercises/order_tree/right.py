"""Other right answers to `order_tree`."""

RIGHT = {
    "the solution": [5, 7, 3, 6, 1, 8, 2],
    "the barrier last": [7, 5, 3, 6, 1, 2, 8],
    "one barrier, at the head of the loop": [7, 3, 8, 6, 1, 2],
}
