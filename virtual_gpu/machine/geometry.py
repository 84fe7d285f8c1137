"""The grid and the block of a launch, and the device's limits on them."""

from __future__ import annotations

import numpy as np

from ..common.errors import LaunchError
from ..common.lanes import Geometry

MAX_THREADS = 1024
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)


def make_geometry(grid, block) -> Geometry:
    """Return the Geometry of a grid and a block, each an int or one to three ints.

    Several ints are a tuple or list in the order (x, y, z), and missing extents are 1. Raises
    LaunchError for any other value and for an extent below 1. The device's upper limits are not
    checked here.
    """
    return Geometry(_three(grid, "grid"), _three(block, "block"))


def _three(dimensions, name: str) -> tuple[int, int, int]:
    """Return the extents of a grid or block, completed to three by ones.

    Raises LaunchError, which calls them ``name``, for anything but one to three ints from 1 on.
    """
    extents = dimensions if isinstance(dimensions, tuple | list) else (dimensions,)
    whole = all(isinstance(d, int | np.integer) for d in extents)
    floats = any(isinstance(d, float | np.floating) for d in extents)
    if not whole or not 1 <= len(extents) <= 3 or any(d < 1 for d in extents):
        raise LaunchError(
            f"The {name} is {dimensions!r}; it must be one to three whole numbers, each at least 1"
            f"{' (such as math.ceil(n / threads))' if floats else ''}."
        )
    return (*(int(d) for d in extents), *(1,) * (3 - len(extents)))
