"""The order in which the lines of the outer product are listed."""

order_outer_product = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
