"""The order in which the lines of the loop are listed."""

order_loads = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
