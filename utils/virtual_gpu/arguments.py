"""Arguments of a launch as the kernel sees them: numbers, and arrays over global memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided

from . import numba_types
from .errors import LaunchError
from .hostarrays import DeviceArray
from .memory import ArrayView, Memory
from .program import Program
from .shadow import Shadow


@dataclass(frozen=True)
class _Array:
    """An array argument and the bytes that it spans."""

    name: str
    array: np.ndarray
    unwritten: np.ndarray | None  # which elements are undefined, laid out as the array
    tracked: bool
    start: int
    end: int


@dataclass(frozen=True)
class Arguments:
    """What a kernel is called with, and the memory in which its arrays lie.

    ``values``: each a typed number, an ArrayView, None, or a tuple of them.
    """

    values: tuple
    memories: frozenset[Memory]


def kernel_arguments(program: Program, given: tuple) -> Arguments:
    """What the caller has given, as the kernel sees it.

    Arrays that overlap in memory share one Memory, so that a race through two names is found.
    Raises LaunchError for what Numba would refuse.
    """
    names = program.source.parameters
    arrays = [
        _described(name, array, unwritten, program)
        for argument, name in zip(given, names, strict=True)
        for array, unwritten in _arrays_in(argument)
    ]
    views = _views(arrays)
    values = tuple(_value(n, v, views) for n, v in zip(names, given, strict=True))
    return Arguments(values, frozenset(view.memory for view in views.values()))


def _arrays_in(argument) -> list[tuple[np.ndarray, np.ndarray | None]]:
    if isinstance(argument, tuple):
        return [array for item in argument for array in _arrays_in(item)]
    if isinstance(argument, DeviceArray):
        return [(argument.host, argument.unwritten)]
    return [(argument, None)] if isinstance(argument, np.ndarray) else []


def _value(name: str, argument, views: dict[int, ArrayView]):
    if isinstance(argument, tuple):
        return tuple(_value(name, item, views) for item in argument)
    if isinstance(argument, DeviceArray):
        return views[id(argument.host)]
    if isinstance(argument, np.ndarray):
        if not (argument.flags.c_contiguous or argument.flags.f_contiguous):
            raise LaunchError(
                f"The array {name} (shape {argument.shape}, strides {argument.strides}) is not "
                "contiguous; pass np.ascontiguousarray() of it, or a device array."
            )
        return views[id(argument)]
    if argument is None:
        return None
    try:
        return numba_types.scalar(argument)
    except (TypeError, OverflowError):
        kind = type(argument).__name__
        raise LaunchError(
            f"The argument {name} is a {kind}; a kernel takes arrays and numbers."
        ) from None


def _described(
    name: str, array: np.ndarray, unwritten: np.ndarray | None, program: Program
) -> _Array:
    if array.dtype.kind not in numba_types.SCALAR_KINDS or not array.dtype.isnative:
        raise LaunchError(
            f"The array {name} has dtype {array.dtype}; a kernel takes numbers in this machine's "
            "byte order."
        )
    use = program.uses[name]
    start, end = byte_bounds(array) if array.size else (0, 0)
    if unwritten is not None and not unwritten.any():
        unwritten = None
    tracked = use.may_write or use.fewest_indices < array.ndim
    return _Array(name, array, unwritten, tracked, start, end)


def _views(arrays: list[_Array]) -> dict[int, ArrayView]:
    """An ArrayView for each array, by the array's id."""
    views = {}
    for group in _overlapping(arrays):
        first, size = group[0], max(a.end for a in group) - group[0].start
        data = _flat(first.array, size)
        tracked = any(a.tracked for a in group)
        memory = Memory(
            first.name,
            "global",
            data,
            Shadow(first.name, "global", data.size) if tracked else None,
            _flat_flags(group, first, data.size),
        )
        for item in group:
            views[id(item.array)] = _view(item, memory, first.start)
    return views


def _overlapping(arrays: list[_Array]) -> list[list[_Array]]:
    """Arrays of one dtype grouped so that groups share no byte; each sorted by address."""
    groups: list[list[_Array]] = []
    for item in sorted(arrays, key=lambda a: (a.array.dtype.str, a.start)):
        last = groups[-1] if groups else None
        same_type = last and last[0].array.dtype == item.array.dtype
        if same_type and item.start < max(a.end for a in last):
            last.append(item)
        else:
            groups.append([item])
    return groups


def _flat(array: np.ndarray, size: int) -> np.ndarray:
    """``size`` bytes of memory from the lowest address of ``array`` on, as one dimension."""
    array = array.reshape(1) if array.ndim == 0 else array
    lowest = array[tuple(slice(None, None, -1 if s < 0 else 1) for s in array.strides)]
    itemsize = array.dtype.itemsize
    writable = array.flags.writeable
    return as_strided(lowest, (size // itemsize,), (itemsize,), writeable=writable)


def _flat_flags(group: list[_Array], first: _Array, size: int) -> np.ndarray | None:
    """Which elements of a group are undefined, as one dimension; None where none is."""
    if first.unwritten is None:
        return None
    item = max(group, key=lambda a: a.end - a.start)
    if item.unwritten is None or item.start != first.start:
        return None
    return _flat(item.unwritten, size)


def _view(item: _Array, memory: Memory, base: int) -> ArrayView:
    array, itemsize = item.array, item.array.dtype.itemsize
    strides = tuple(s // itemsize for s in array.strides)
    address = array.__array_interface__["data"][0] if array.size else base
    return ArrayView(
        memory, array.shape, strides, (address - base) // itemsize, array.flags.writeable
    )
