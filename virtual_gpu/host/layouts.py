"""Shapes, strides and the initial content of arrays that a host program allocates."""

from __future__ import annotations

import weakref

import numpy as np

from ..common.errors import LaunchError

# The arrays that ``cuda.pinned_array`` has made, by id.
PINNED: weakref.WeakValueDictionary[int, np.ndarray] = weakref.WeakValueDictionary()


class ArrayValueError(LaunchError, ValueError):
    """Raised where Numba's device arrays raise a ValueError."""


class ArrayTypeError(LaunchError, TypeError):
    """Raised where Numba's device arrays raise a TypeError."""


class NeedsCopy(LaunchError, NotImplementedError):
    """Raised for an operation that would have to move elements, and for a masked array."""


def is_pinned(array: np.ndarray | None) -> bool:
    """Return True for an array of ``cuda.pinned_array``, and for a view of one.

    Mapped and managed arrays are such views.
    """
    while isinstance(array, np.ndarray):
        if PINNED.get(id(array)) is array:
            return True
        array = array.base
    return False


def whole_shape(shape) -> tuple[int, ...]:
    """Return a shape, which may be a single number, as a tuple of ints.

    Raises ArrayTypeError for a shape that is not valid.
    """
    extents = shape if isinstance(shape, tuple | list | np.ndarray) else (shape,)
    whole = all(isinstance(n, int | np.integer) for n in extents)
    if not whole or any(n < 0 for n in extents):
        text = f"an array of shape {shape.shape}" if isinstance(shape, np.ndarray) else repr(shape)
        raise ArrayTypeError(
            f"The shape is {text}; it must be whole numbers that are not negative."
        )
    return tuple(int(n) for n in extents)


def element_strides(shape: tuple, step: int, order: str) -> tuple[int, ...]:
    """Return the strides of a contiguous array whose smallest stride is ``step``.

    ``order`` is "C" or "F". The strides have the unit of ``step``.
    """
    strides, axes = [0] * len(shape), range(len(shape))
    for axis in axes if order == "F" else reversed(axes):
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


def extent(shape: tuple, strides: tuple, itemsize: int) -> int:
    """Return the bytes from the element at the lowest address to the end of the one at the highest.

    ``strides`` are in bytes. The result is 0 for an array without elements.
    """
    if 0 in shape:
        return 0
    return itemsize + sum((n - 1) * abs(s) for n, s in zip(shape, strides, strict=True))


def empty(shape, dtype, strides, order: str) -> np.ndarray:
    """Return an uninitialised array with these strides in bytes, or if None in this order.

    ``order`` is "C" or "F". Strides of ``()`` count as None, and an array without elements ignores
    them. Raises ArrayTypeError or ArrayValueError for a shape, strides or an order that is not
    valid.
    """
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
    """Return (strides in bytes, order) of a new contiguous array that is laid out like ``ary``.

    As in Numba, a contiguous array keeps its order, "C" or "F", and the strides are None. An array
    with at most one dimension gives (None, "C"). For any other array the order is "C", and the
    dimension with the smallest stride in ``ary`` has the smallest of the strides, and so on.
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
    """Fill an array with NaN, or with a bit pattern if its dtype has no NaN."""
    if array.dtype.names or array.dtype.kind in "mMVS":
        array[...] = np.frombuffer(b"\xa5" * array.itemsize, array.dtype)[0]
    else:
        array.fill(np.nan if array.dtype.kind in "fc" else np.array(0xA5).astype(array.dtype))


def uninitialised(shape, dtype, strides=None, order: str = "C") -> tuple[np.ndarray, np.ndarray]:
    """Return an array with undefined content, and a boolean array of its shape that is all True.

    The first array is filled with NaN, or with a bit pattern if its dtype has no NaN. The second
    array marks all its elements as unwritten. ``strides`` are in bytes; None means contiguous in
    ``order``, "C" or "F". Raises ArrayTypeError or ArrayValueError for a shape, strides or an order
    that is not valid.
    """
    array = empty(shape, dtype, strides, order)
    _poison(array)
    steps = tuple(s // array.itemsize for s in array.strides) if array.itemsize else None
    unwritten = empty(array.shape, bool, steps, order)
    unwritten[...] = True
    return array, unwritten
