"""Times as text."""


def duration(seconds: float) -> str:
    """Return a time as text with up to three significant digits and a unit, such as "8.1 us".

    The unit is us for less than a millisecond, ms for less than a second, and else s.
    """
    if seconds < 1e-3:
        return f"{1e6 * seconds:.3g} us"
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
