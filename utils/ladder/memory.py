"""Allocators for a step's own memory: partial sums, counters, slices of a product."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import cuda

# (size, dtype, fill) -> array. Without `fill` its contents are undefined.
Allocate = Callable[..., object]


def on_device(size: int | tuple[int, ...], dtype, fill: float | None = None):
    """Return a new array on the current device, full of `fill`; uninitialised if that is None."""
    if fill is None:
        return cuda.device_array(size, dtype)
    return cuda.to_device(np.full(size, fill, dtype))


def untouched(size: int | tuple[int, ...], dtype, fill: float | None = None) -> np.ndarray:
    """Return a new host array, filled with `fill` if it is given and with zeros otherwise.

    It is for runs that only count accesses, where few elements are ever read: zeros cost no memory
    until their pages are touched.
    """
    return np.full(size, fill, dtype) if fill else np.zeros(size, dtype)
