"""The side of a square block."""


def square_side(threads):
    # About 2 lines: the power of four, and its root.
    pass
