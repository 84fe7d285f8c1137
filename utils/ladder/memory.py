"""Where a step's own memory comes from: partial sums, tickets, slices of a product."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import cuda

# (size, dtype, fill) -> array. Without fill nobody knows what is in it.
Allocate = Callable[..., object]


def on_device(size: int | tuple[int, ...], dtype, fill: float | None = None):
    """Memory of the device at hand."""
    if fill is None:
        return cuda.device_array(size, dtype)
    return cuda.to_device(np.full(size, fill, dtype))


def untouched(size: int | tuple[int, ...], dtype, fill: float | None = None) -> np.ndarray:
    """Memory of the host for arrays of any size of which few elements are read: for counting.

    It holds zeros, whose pages cost nothing until they are touched.
    """
    return np.full(size, fill, dtype) if fill else np.zeros(size, dtype)
