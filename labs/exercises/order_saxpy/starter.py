"""The order in which the lines of saxpy are listed."""

order_saxpy = [1, 2, 3, 4, 5, 6, 7]
