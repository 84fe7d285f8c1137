"""Attributes of values in a kernel, such as ``x.shape`` and ``z.real``."""

from __future__ import annotations

import functools
import operator
from dataclasses import replace

import numpy as np

from ..machine.parts import is_contiguous, reshaped
from ..machine.records import RecordArray
from ..memory.memory import Array, ArrayView, element_strides
from .frame import is_scalar


def attribute_of(value, attribute: str):
    """Return an attribute of a value, such as ``x.shape``; None if it has no such attribute.

    An array has ``dtype``, and as int64 numbers or tuples of them ``shape``, ``size``, ``ndim``,
    ``itemsize``, ``nbytes`` and ``strides`` in bytes. Its ``real`` is the array itself if it is not
    complex, else None. An ArrayView also has ``T`` and, if it is contiguous and has dimensions,
    ``flat``, a view with one dimension. A number has ``real`` and ``imag``, and a named tuple its
    fields.
    """
    if attribute == "T" and isinstance(value, ArrayView):
        return replace(value, shape=value.shape[::-1], strides=value.strides[::-1])
    if attribute == "flat" and isinstance(value, ArrayView) and is_contiguous(value):
        return reshaped(value, (-1,)) if value.shape else None
    if attribute == "real" and isinstance(value, Array) and value.dtype.kind != "c":
        return value
    if isinstance(value, Array | RecordArray):
        return _array_attributes(value).get(attribute)
    if is_scalar(value) and attribute in ("real", "imag"):
        return getattr(value, attribute)
    if isinstance(value, tuple) and attribute in getattr(value, "_fields", ()):
        return getattr(value, attribute)
    return None


def _array_attributes(array: Array) -> dict:
    """Return a dict from the names of an array's attributes to their values in a kernel.

    They are ``shape`` and ``strides`` (in bytes), tuples of int64; ``size``, ``ndim``, ``itemsize``
    and ``nbytes``, int64; and ``dtype``. An extent that differs by thread is a vector of lanes.
    """
    shape = tuple(s if isinstance(s, np.ndarray) else np.int64(s) for s in array.shape)
    size, itemsize = functools.reduce(operator.mul, shape, np.int64(1)), array.dtype.itemsize
    strides = getattr(array, "strides", None) or element_strides(array.shape)
    step = array.memory.step if isinstance(array, ArrayView) else itemsize
    return {
        "shape": shape,
        "size": size,
        "ndim": np.int64(len(shape)),
        "dtype": array.dtype,
        "itemsize": np.int64(itemsize),
        "nbytes": size * itemsize,
        "strides": tuple(np.int64(s * step) for s in strides),
    }
