"""Other right answers to `order_outer_product`."""

HARMLESS = {}

RIGHT = {
    "the solution": [6, 11, 4, 2, 9, 8, 5, 1, 3],
    "the words of b first": [6, 2, 9, 11, 4, 8, 5, 1, 3],
}
