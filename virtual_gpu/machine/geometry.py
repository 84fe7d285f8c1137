"""The grid and the block of a launch, and how large a device lets them be."""

from __future__ import annotations

import numpy as np

from ..common.errors import LaunchError
from ..common.lanes import Geometry

MAX_THREADS = 1024
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)


def make_geometry(grid, block) -> Geometry:
    """Grid and block as Numba takes them: an int, or a tuple of up to three."""
    return Geometry(_three(grid, "grid"), _three(block, "block"))


def _three(dimensions, what: str) -> tuple[int, int, int]:
    given = dimensions if isinstance(dimensions, tuple | list) else (dimensions,)
    whole = all(isinstance(d, int | np.integer) for d in given)
    floats = any(isinstance(d, float | np.floating) for d in given)
    if not whole or not 1 <= len(given) <= 3 or any(d < 1 for d in given):
        raise LaunchError(
            f"The {what} is {dimensions!r}; it must be one to three whole numbers, each at least 1"
            f"{' (such as math.ceil(n / threads))' if floats else ''}."
        )
    return (*(int(d) for d in given), *(1,) * (3 - len(given)))
