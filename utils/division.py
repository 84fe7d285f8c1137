"""Integer division that rounds up."""


def cdiv(count: int, size: int) -> int:
    """Return the number of pieces of length `size` that cover `count`: the quotient, rounded up."""
    return -(-count // size)
