"""Shapes, strides and first content of arrays that a host program makes."""

from __future__ import annotations

import numpy as np

from ..common.errors import LaunchError


class ArrayValueError(LaunchError, ValueError):
    """What Numba's device arrays refuse with a ValueError."""


class ArrayTypeError(LaunchError, TypeError):
    """What Numba's device arrays refuse with a TypeError."""


class NeedsCopy(LaunchError, NotImplementedError):
    """What Numba's device arrays refuse because elements would have to move."""


def whole_shape(shape) -> tuple[int, ...]:
    given = shape if isinstance(shape, tuple | list | np.ndarray) else (shape,)
    whole = all(isinstance(n, int | np.integer) for n in given)
    if not whole or any(n < 0 for n in given):
        told = f"an array of shape {shape.shape}" if isinstance(shape, np.ndarray) else repr(shape)
        raise ArrayTypeError(
            f"The shape is {told}; it must be whole numbers that are not negative."
        )
    return tuple(int(n) for n in given)


def element_strides(shape: tuple, step: int, order: str) -> tuple[int, ...]:
    """Strides of a contiguous array, the nearest elements ``step`` apart."""
    strides, axes = [0] * len(shape), range(len(shape))
    for axis in axes if order == "F" else reversed(axes):
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


def extent(shape: tuple, strides: tuple, itemsize: int) -> int:
    """Bytes from the lowest to the highest element."""
    if 0 in shape:
        return 0
    return itemsize + sum((n - 1) * abs(s) for n, s in zip(shape, strides, strict=True))


def empty(shape, dtype, strides, order: str) -> np.ndarray:
    """Memory without content, with strides in bytes or in an order."""
    shape, dtype = whole_shape(shape), np.dtype(dtype)
    if order not in ("C", "F"):
        raise ArrayValueError(f"The order is {order!r}; it must be 'C' or 'F'.")
    if strides is None or strides == ():
        return np.empty(shape, dtype, order)
    strides = (strides,) if isinstance(strides, int) else tuple(strides)
    if len(strides) != len(shape):
        raise ArrayValueError(f"The strides {strides} do not match the shape {shape}.")
    if 0 in shape:
        return np.empty(shape, dtype, order)
    start = sum((1 - n) * s for n, s in zip(shape, strides, strict=True) if s < 0)
    memory = np.empty(extent(shape, strides, dtype.itemsize), np.uint8)
    return np.ndarray(shape, dtype, memory, start, strides)


def order_of(ary) -> tuple[tuple[int, ...] | None, str]:
    """The strides (None: by the order) and the order of new memory that is like ``ary``.

    As Numba does it: what is contiguous keeps its order, and of other arrays the dimensions keep
    their rank by stride, without gaps.
    """
    flags = ary.flags
    if flags["C_CONTIGUOUS"] or flags["F_CONTIGUOUS"] or ary.ndim <= 1:
        return None, "F" if flags["F_CONTIGUOUS"] and not flags["C_CONTIGUOUS"] else "C"
    strides, step = [0] * ary.ndim, ary.dtype.itemsize
    for axis, _ in sorted(enumerate(ary.strides), key=lambda pair: pair[1]):
        strides[axis] = step
        step *= ary.shape[axis]
    return tuple(strides), "C"


def _poison(array: np.ndarray) -> None:
    """Fill with NaN, or with a pattern where the dtype has none."""
    if array.dtype.names or array.dtype.kind in "mMVS":
        array[...] = np.frombuffer(b"\xa5" * array.itemsize, array.dtype)[0]
    else:
        array.fill(np.nan if array.dtype.kind in "fc" else np.array(0xA5).astype(array.dtype))


def uninitialised(shape, dtype, strides=None, order: str = "C") -> tuple[np.ndarray, np.ndarray]:
    """Memory with arbitrary content, NaN or a pattern, and which elements are unwritten: all."""
    array = empty(shape, dtype, strides, order)
    _poison(array)
    steps = tuple(s // array.itemsize for s in array.strides) if array.itemsize else None
    unwritten = empty(array.shape, bool, steps, order)
    unwritten[...] = True
    return array, unwritten
