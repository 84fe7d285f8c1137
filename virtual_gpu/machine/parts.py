"""Parts of an array: views selected by slices, and the assignment of one number to a part."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..memory.memory import ARRAY_TYPES, ArrayView, LocalArray, LocalPart, element_strides
from .access import store
from .place import Place, position_of, report_out_of_bounds

_OF_PARTS = frozenset((slice, type(None)))  # the types of indices that select parts


def expanded(indices: tuple, rank: int) -> tuple:
    """Return the indices with ``...`` replaced by full slices for the dimensions it covers.

    ``rank`` is the number of dimensions of the array. None covers no dimension. Indices without
    ``...`` are returned unchanged.
    """
    named = sum(index is not None and index is not Ellipsis for index in indices)
    for position, index in enumerate(indices):
        if index is Ellipsis:
            whole = (slice(None),) * (rank - named)
            return indices[:position] + whole + indices[position + 1 :]
    return indices


def is_part(place: Place) -> bool:
    """Return True if the place is a part of an array rather than one element.

    It is a part if a slice or None is among the indices, or if there are fewer indices than
    dimensions. For an array of records, and for a value that is no array, the result is False.
    """
    if type(place.array) not in ARRAY_TYPES:
        return False
    few = len(place.indices) < len(place.array.shape)
    return few or not _OF_PARTS.isdisjoint(map(type, place.indices))


def view(place: Place) -> ArrayView | LocalPart:
    """Return the part of an array that a place selects, as a view.

    Slices are clipped as in Python, and an index None makes a dimension of one element. Lanes whose
    index is out of bounds are reported and get the nearest valid index. Indices and the bounds of
    slices may differ by thread.
    """
    array = place.array
    if isinstance(array, LocalArray):
        array = LocalPart(array, array.shape, element_strides(array.shape))
        place = Place(place.run, array, place.indices, place.mask, place.site)
    offset, shape, strides, axis = array.offset, [], [], -1
    for index in _all_indices(place):
        if index is None:
            shape.append(1)
            strides.append(0)
            continue
        axis += 1
        extent = array.shape[axis]
        if isinstance(index, slice):
            start, length, step = _slice_bounds(index, extent)
            offset = offset + start * array.strides[axis]
            shape.append(length)
            strides.append(step * array.strides[axis])
            continue
        _, inside = position_of(place, index, extent)
        if inside is not None:
            report_out_of_bounds(place.at((index,)), axis, inside)
        offset = offset + _wrapped(index, extent) * array.strides[axis]
    if isinstance(array, LocalPart):
        return LocalPart(array.base, tuple(shape), tuple(strides), offset)
    flags = array.writable, array.bytewise
    return ArrayView(array.memory, tuple(shape), tuple(strides), offset, *flags, is_part=True)


def is_contiguous(array: ArrayView) -> bool:
    """Return True if the array is C-contiguous: without gaps, and the last index is fastest.

    It is False if an extent differs by thread.
    """
    return not _varies(array.shape) and array.strides == element_strides(array.shape)


def _varies(shape: tuple) -> bool:
    """Return True if an extent of the shape differs by thread."""
    return any(isinstance(extent, np.ndarray) for extent in shape)


def reshaped(array: ArrayView, shape: tuple) -> ArrayView | None:
    """Return a view of a contiguous array in another shape, or None if the sizes differ.

    One extent of the shape may be -1 and is computed from the others; the result is None, too, if
    they do not divide the size. The caller has to check that the array is contiguous.
    """
    size = math.prod(array.shape)
    known_size = math.prod(extent for extent in shape if extent != -1)
    if -1 in shape and known_size and size % known_size == 0:
        shape = tuple(size // known_size if extent == -1 else extent for extent in shape)
    if any(extent < 0 for extent in shape) or math.prod(shape) != size:
        return None
    return replace(array, shape=shape, strides=element_strides(shape))


def store_part(place: Place, value) -> bool:
    """Write a number to every element of a part of an array, and return True.

    Returns False, and writes nothing, if the array is no array of numbers.
    """
    if type(place.array) not in ARRAY_TYPES:
        return False
    indices = _all_indices(place)
    bounds = [b for i in indices if isinstance(i, slice) for b in (i.start, i.stop)]
    varies = any(isinstance(v, np.ndarray) for v in (*bounds, *place.array.shape))
    if varies or type(None) in map(type, indices):
        part = view(place)
        for element in elements(Place(place.run, part, (), place.mask, place.site)):
            store(element, value)
        return True
    choices = []
    for index, extent in zip(indices, place.array.shape, strict=True):
        if isinstance(index, slice):
            start, length, step = _slice_bounds(index, extent)
            choices.append([np.int64(start + step * n) for n in range(length)])
        else:
            choices.append([index])
    for element in itertools.product(*choices):
        store(place.at(element), value)
    return True


def _all_indices(place: Place) -> tuple:
    """Return the indices of a place, followed by full slices for the missing dimensions."""
    named = sum(index is not None for index in place.indices)
    return place.indices + (slice(None),) * (len(place.array.shape) - named)


def elements(whole: Place) -> Iterator[Place]:
    """Yield the place of each element of an array, the last index fastest.

    Where extents differ by thread, a place has the lanes for which its element exists.
    """
    extents = whole.array.shape
    for position in np.ndindex(*(int(np.max(extent)) for extent in extents)):
        mask = whole.mask
        for index, extent in zip(position, extents, strict=True):
            if mask is not None and isinstance(extent, np.ndarray):
                mask = mask.narrow(index < extent)
        if mask is not None:
            yield whole.at(tuple(map(np.int64, position))).narrowed(mask)


def _slice_bounds(part: slice, extent) -> tuple:
    """Return (start, length, step) of a slice of a dimension with ``extent`` elements.

    All three are ints if neither the slice nor the extent differs by thread. Otherwise the length
    is a vector of lanes, and the start is a vector, or a number if all lanes share it. The step is
    always an int.
    """
    step = 1 if part.step is None else int(part.step)
    if not any(isinstance(b, np.ndarray) for b in (part.start, part.stop, extent)):
        bounds = (None if b is None else int(b) for b in (part.start, part.stop))
        start, stop, step = slice(*bounds, step).indices(extent)
        return start, len(range(start, stop, step)), step
    low, high = (0, extent) if step > 0 else (-1, extent - 1)
    first, last = (low, high) if step > 0 else (high, low)
    start, stop = (
        default if b is None else np.clip(np.where(b < 0, b + extent, b), low, high)
        for b, default in ((part.start, first), (part.stop, last))
    )
    length = np.maximum(0, (stop - start + step - np.sign(step)) // step)
    return start, length.astype(np.int64), step


def _wrapped(index, extent: int):
    """Return an index counted from the start and clipped to the extent.

    The result is an int, or an int64 vector of lanes. An index that was reported as out of bounds
    thus becomes a valid one.
    """
    wrapped = np.where(index < 0, index + extent, index).astype(np.int64)
    wrapped = np.clip(wrapped, 0, np.maximum(extent - 1, 0))
    return wrapped if wrapped.ndim else int(wrapped)
