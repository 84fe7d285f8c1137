"""The order in which the lines of the unrolled loop are listed."""

order_by_two = [1, 2, 3, 4, 5, 6, 7, 8, 9]
