"""The order in which the lines of the tree are listed."""

order_tree = [1, 2, 3, 4, 5, 6, 7, 8, 9]
