"""Division that rounds up."""


def cdiv(count: int, size: int) -> int:
    """Return ``count / size`` rounded up: the number of pieces of `size` that cover `count`."""
    return -(-count // size)
