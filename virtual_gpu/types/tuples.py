"""Named tuples: ``collections.namedtuple``, and CUDA's vector types such as ``float32x4``."""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable, Iterable

from numba.core import types
from numba.cuda.vector_types import vector_types


def is_named_tuple(function) -> bool:
    """Return True if this is a class made by collections.namedtuple or typing.NamedTuple.

    A class that is derived from one counts, too.
    """
    is_tuple = isinstance(function, type) and issubclass(function, tuple)
    return is_tuple and hasattr(function, "_fields")


def alike(value: tuple, items: Iterable) -> tuple:
    """Return ``items`` as a tuple of the same type as ``value``, which may be a named tuple."""
    return type(value)(*items) if hasattr(value, "_fields") else tuple(items)


@functools.cache
def vector_kind(name: str) -> type:
    """Return the vector type of this name, such as ``float32x4``, as a named tuple's class.

    Its fields are x, y, z and w, as far as the vector has them. Raises KeyError for a name that is
    no vector type of Numba.
    """
    return collections.namedtuple(name, vector_types[name].attr_names)


def type_of_tuple(value: tuple, type_of: Callable) -> types.Type:
    """Return the Numba type of a tuple; ``type_of(item)`` returns that of an item."""
    kind = type(value)
    if kind.__name__ in vector_types and kind is vector_kind(kind.__name__):
        return vector_types[kind.__name__]
    items = tuple(map(type_of, value))
    return types.BaseTuple.from_types(items, kind if is_named_tuple(kind) else None)
