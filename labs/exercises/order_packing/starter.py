"""The order in which the lines of packing are listed."""

order_packing = [1, 2, 3, 4, 5, 6, 7, 8]
