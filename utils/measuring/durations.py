"""Times as text."""


def duration(seconds: float) -> str:
    """Return a time as text with three significant digits and a unit: 8.1 us, 310 ms, 1.28 s."""
    if seconds < 1e-3:
        return f"{1e6 * seconds:.3g} us"
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
