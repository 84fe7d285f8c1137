"""The order in which the lines of the product are listed."""

order_rows = [1, 2, 3, 4, 5, 6, 7]
