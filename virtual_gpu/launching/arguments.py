"""Converts the arguments of a launch to the kernel's values: numbers, and arrays in global memory.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numba import cuda
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided

from ..checks.shadow import Shadow
from ..common.errors import LaunchError, LimitReached
from ..common.limits import LaunchLimits, in_bytes
from ..common.source import ParameterUse
from ..host.allocation import device_array_like, on_the_device
from ..host.hostarrays import DeviceArray, HostMemory
from ..host.transfers import TO_DEVICE, TO_HOST, note
from ..language.program import Program
from ..machine.records import (
    RecordArray,
    RecordLayout,
    memories_of,
    misplaced_field,
    numbers_of,
    record_array,
)
from ..memory.journal import WholeJournal
from ..memory.memory import ArrayView, Memory
from ..types import numba_types
from ..types.signatures import not_an_argument
from ..types.tuples import alike

BYTES_PER_ELEMENT = 20  # of a shadow: the last writer, the last reader, and their lanes


@dataclass(frozen=True)
class _Array:
    """An array argument and the addresses of the bytes that it spans.

    ``unwritten`` marks the undefined elements of a device array; None if there are none.
    ``tracked`` is True if accesses are checked for races, because the kernel may write to the
    array and has several threads. ``start`` and ``end`` are the first byte's address and that after
    the last byte. ``name`` is the parameter's name.
    """

    name: str
    array: np.ndarray
    unwritten: np.ndarray | None  # flags of undefined elements, laid out like the array
    tracked: bool  # accesses are checked for races
    start: int
    end: int


@dataclass(frozen=True)
class Arguments:
    """The values that a kernel is called with, and the memories that hold its arrays.

    Each of ``values`` is a typed number, an ArrayView, a RecordArray, None, or a tuple of them.
    ``device_arrays`` maps the ``id`` of each device array that the kernel's text names as a global
    to its view.
    """

    values: tuple
    memories: frozenset[Memory]
    device_arrays: Mapping[int, ArrayView]


@contextlib.contextmanager
def unwrapped(arguments: tuple) -> Iterator[tuple]:
    """Yield the arguments as a tuple without ``cuda.In``, ``cuda.Out`` and ``cuda.InOut``.

    An object with the virtual GPU's array interface becomes a device array. A host array in ``In``
    is copied, so the launch does not change it. A host array in ``Out`` is replaced by new device
    memory, which is copied back to it at the end, even if the launch fails. Any other host array is
    used without a copy. The transfers that a real device would make are logged: to the device for
    ``In``, to the host for ``Out``, both for any other host array. Mapped and managed memory is
    neither copied nor logged.
    """
    unwrapped_arguments, back, logged = [], [], []
    for argument in arguments:
        wrapped = isinstance(argument, cuda.In | cuda.Out | cuda.InOut)
        value = on_the_device(argument.value if wrapped else argument)
        on_host = isinstance(value, np.ndarray) and not isinstance(value, HostMemory)
        if on_host and (isinstance(argument, cuda.InOut) or not isinstance(argument, cuda.Out)):
            note(TO_DEVICE, value, "launch")
        if on_host and not isinstance(argument, cuda.In):
            logged.append(value)
        if not (wrapped and on_host) or isinstance(argument, cuda.InOut):
            unwrapped_arguments.append(value)
        elif isinstance(argument, cuda.In):
            unwrapped_arguments.append(value.copy(order="K"))
        else:
            unwrapped_arguments.append(device_array_like(value))
            back.append((value, unwrapped_arguments[-1]))
    try:
        yield tuple(unwrapped_arguments)
    finally:
        for host, device in back:
            host[...] = device.host
        for host in logged:
            note(TO_HOST, host, "launch")


def kernel_arguments(
    program: Program, arguments: tuple, limits: LaunchLimits, threads: int
) -> Arguments:
    """Return the Arguments that a kernel is called with, converted from those of the caller.

    ``arguments`` holds one argument per parameter, as ``unwrapped`` yields them. ``threads`` is the
    number of threads of the launch; one thread alone cannot race. Arrays that overlap in memory
    share one Memory, so that a race through two names is found. Raises LaunchError for arguments
    that Numba would refuse, and LimitReached if the checks need too much memory.
    """
    names = program.source.parameters
    arrays = [
        _described(name, array, unwritten, program)
        for argument, name in zip(arguments, names, strict=True)
        for array, unwritten in _arrays_in(argument)
    ]
    arrays += [
        _described(name, array, unwritten, program)
        for name, device_array in program.device_arrays.values()
        for array, unwritten in _arrays_in(device_array)
    ]
    if threads == 1:
        arrays = [replace(array, tracked=False) for array in arrays]
    _check_bytes(arrays, limits)
    views = _views(arrays)
    values = tuple(_value(n, v, views) for n, v in zip(names, arguments, strict=True))
    memories = frozenset(memory for v in views.values() for memory in memories_of(v))
    device_arrays = {n: views[id(a.host)] for n, (_, a) in program.device_arrays.items()}
    return Arguments(values, memories, device_arrays)


def _arrays_in(argument) -> list[tuple[np.ndarray, np.ndarray | None]]:
    """Return the arrays in an argument as (array, unwritten) pairs.

    ``unwritten`` marks the elements of a device array that nobody has written; it is None for a
    host array. The items of a tuple are searched, too. Other arguments give an empty list.
    """
    if isinstance(argument, tuple):
        return [array for item in argument for array in _arrays_in(item)]
    if isinstance(argument, DeviceArray):
        return [(argument.host, argument.unwritten)]
    return [(argument, None)] if isinstance(argument, np.ndarray) else []


def _value(name: str, argument, views: dict[int, ArrayView]):
    """Return the kernel's value for an argument: a number, a view of ``views``, None or a tuple.

    ``views`` maps the ``id`` of an array to its view. ``name`` is the parameter's, for messages.
    Raises LaunchError for a host array that is not contiguous, and for a value that no kernel
    takes.
    """
    if isinstance(argument, tuple):
        return alike(argument, (_value(name, item, views) for item in argument))
    if isinstance(argument, DeviceArray):
        return views[id(argument.host)]
    if isinstance(argument, np.ndarray):
        contiguous = argument.flags.c_contiguous or argument.flags.f_contiguous
        if not contiguous and not isinstance(argument, HostMemory):
            raise LaunchError(
                f"The array {name} (shape {argument.shape}, strides {argument.strides}) is not "
                "contiguous; pass np.ascontiguousarray() of it, or a device array."
            )
        return views[id(argument)]
    if argument is None:
        return None
    try:
        number = numba_types.scalar(argument)
    except (TypeError, OverflowError):
        raise not_an_argument(name, argument) from None
    if not _is_supported(number.dtype):
        raise not_an_argument(name, argument)
    return number


def _is_supported(dtype: np.dtype) -> bool:
    """Return True if a kernel can have numbers and arrays of this dtype.

    They are bools, integers, floats and complex numbers of at most 64 bits per part, in this
    machine's byte order.
    """
    long_double = dtype.char in "gG"
    return dtype.kind in numba_types.SCALAR_KINDS and dtype.isnative and not long_double


def _described(
    name: str, array: np.ndarray, unwritten: np.ndarray | None, program: Program
) -> _Array:
    """Return the _Array of an argument; raise LaunchError for an array that kernels cannot have.

    ``unwritten`` marks the elements that were never written; it is None if all were.
    """
    if array.dtype.names:
        return _described_records(name, array)
    if not _is_supported(array.dtype):
        raise LaunchError(
            f"The array {name} has dtype {array.dtype}; a kernel takes numbers of up to 64 bits "
            "(complex: 128) in this machine's byte order."
        )
    if isinstance(array, np.ma.MaskedArray):
        raise LaunchError(
            f"The array {name} has a mask, which a kernel would not see; pass its filled() array."
        )
    if any(stride % array.itemsize for stride in array.strides):
        raise LaunchError(
            f"The array {name} has strides {array.strides} and elements of {array.itemsize} "
            "bytes; strides must be whole elements."
        )
    use = program.uses.get(name) or ParameterUse(may_write=True, fewest_indices=0)
    start, end = byte_bounds(array) if array.size else (0, 0)
    if unwritten is not None and not unwritten.any():
        unwritten = None
    tracked = use.may_write or use.fewest_indices < array.ndim
    return _Array(name, array, unwritten, tracked, start, end)


def _described_records(name: str, array: np.ndarray) -> _Array:
    """Return the _Array of an argument that is an array of records.

    Which of its fields are undefined is not tracked. Raises LaunchError for a dtype that the
    virtual GPU does not know.
    """
    numbers = list(numbers_of(array.dtype))
    if not all(d.kind in numba_types.SCALAR_KINDS and d.isnative for d in numbers):
        raise LaunchError(
            f"The array {name} has dtype {array.dtype}; the fields of a record are numbers in this "
            "machine's byte order."
        )
    misplaced = misplaced_field(array.dtype, unless_bytewise=True)
    if misplaced:
        raise LaunchError(
            f"The field {misplaced} of the array {name} is not at a multiple of its size in every "
            "record, which the virtual GPU does not know; make the dtype with align=True."
        )
    start, end = byte_bounds(array) if array.size else (0, 0)
    return _Array(name, array, None, True, start, end)


def _check_bytes(arrays: list[_Array], limits: LaunchLimits) -> None:
    """Raise LimitReached if the race checks of the tracked arrays need over ``limits.bytes``.

    Nothing is raised if ``limits.bytes`` is None.
    """
    needed = sum(a.array.size for a in arrays if a.tracked) * BYTES_PER_ELEMENT
    if limits.bytes is not None and needed > limits.bytes:
        largest = max(arrays, key=lambda a: a.array.size * a.tracked)
        raise LimitReached(
            f"The launch needs {in_bytes(needed)} to check the arrays that it writes, most "
            f"of it for {largest.name}, and the limit is {in_bytes(limits.bytes)}; pass "
            "smaller arrays, or set VIRTUAL_GPU_BYTES higher."
        )


def _views(arrays: list[_Array]) -> dict[int, ArrayView]:
    """Return a dict from ``id(array)`` to the ArrayView or RecordArray that the kernel gets.

    Arrays of one dtype that overlap share one Memory.
    """
    views = {}
    for group in _overlapping(arrays):
        if group[0].array.dtype.names:
            views |= _views_of_records(group)
            continue
        first, size = group[0], max(a.end for a in group) - group[0].start
        data = _data(group, size)
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


def _views_of_records(group: list[_Array]) -> dict[int, RecordArray]:
    """Return a dict from ``id(array)`` to the RecordArray of each of the overlapping arrays.

    The arrays share one Memory per dtype of their fields.
    """
    first, size = group[0], max(a.end for a in group) - group[0].start
    data, misplaced = _flat(first.array, size), misplaced_field(first.array.dtype)
    journal = WholeJournal(data.view(np.uint8), None)

    @functools.cache
    def memory_of(dtype: np.dtype) -> Memory:
        numbers = _at_every_byte(data, dtype) if misplaced else data.view(dtype)
        shadow = Shadow(first.name, "global", numbers.size)
        return Memory(first.name, "global", numbers, shadow, journal=journal)

    views = {}
    for item in group:
        array = item.array
        address = array.__array_interface__["data"][0] if array.size else first.start
        at = RecordLayout(
            item.name, array.shape, array.strides, address - first.start, array.flags.writeable
        )
        views[id(array)] = record_array(array.dtype, at, memory_of)
    return views


def _at_every_byte(data: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return a vector whose element n is the number of this dtype that begins at byte n of data."""
    parts = data.view(np.uint8)
    count = max(0, parts.size - dtype.itemsize + 1)
    return np.ndarray(count, dtype, parts, strides=(1,))


def _overlapping(arrays: list[_Array]) -> list[list[_Array]]:
    """Return groups of arrays of one dtype that overlap; two groups of one dtype share no byte.

    An array that overlaps no other is a group of its own. Each group is sorted by address.
    """
    groups: list[list[_Array]] = []
    for item in sorted(arrays, key=lambda a: (a.array.dtype.str, a.start)):
        last = groups[-1] if groups else None
        same_type = last and last[0].array.dtype == item.array.dtype
        if same_type and item.start < max(a.end for a in last):
            last.append(item)
        else:
            groups.append([item])
    return groups


def _data(group: list[_Array], size: int) -> np.ndarray:
    """Return the ``size`` bytes that a group of overlapping arrays spans, as a vector view.

    The vector has the arrays' dtype and is writable if one of them is.
    """
    first = group[0]
    if first.array.flags.writeable or not any(a.array.flags.writeable for a in group):
        return _flat(first.array, size)
    memory = (ctypes.c_char * size).from_address(first.start)  # the caller keeps it alive
    return np.frombuffer(memory, first.array.dtype)


def _flat(array: np.ndarray, size: int) -> np.ndarray:
    """Return ``size`` bytes of memory from the lowest address of ``array`` on, as a vector view.

    The vector has the dtype of ``array``, and is writable if the array is.
    """
    array = array.reshape(1) if array.ndim == 0 else array
    lowest = array[tuple(slice(None, None, -1 if s < 0 else 1) for s in array.strides)]
    itemsize = array.dtype.itemsize
    writable = array.flags.writeable
    return as_strided(lowest, (size // itemsize,), (itemsize,), writeable=writable)


def _flat_flags(group: list[_Array], first: _Array, size: int) -> np.ndarray | None:
    """Return the flags of the undefined elements that a group spans, as a vector, or None.

    ``first`` is the array with the lowest address, and ``size`` the number of elements that the
    group spans. The result is None if ``first`` or the largest array has no flags, or if the
    largest array does not begin where ``first`` begins.
    """
    if first.unwritten is None:
        return None
    item = max(group, key=lambda a: a.end - a.start)
    if item.unwritten is None or item.start != first.start:
        return None
    return _flat(item.unwritten, size)


def _view(item: _Array, memory: Memory, base: int) -> ArrayView:
    """Return the ArrayView of an array in ``memory``, whose first byte has the address ``base``."""
    array, itemsize = item.array, item.array.dtype.itemsize
    strides = tuple(s // itemsize for s in array.strides)
    address = array.__array_interface__["data"][0] if array.size else base
    return ArrayView(
        memory, array.shape, strides, (address - base) // itemsize, array.flags.writeable
    )
