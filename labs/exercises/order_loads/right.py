"""Other right answers to `order_loads`."""

RIGHT = {
    "the solution": [5, 2, 7, 3, 8, 6, 1, 10],
    "the loads before the barrier": [5, 7, 3, 8, 2, 6, 1, 10],
    "the next tile's start first": [7, 5, 10, 8, 3, 6, 1, 2],
}
