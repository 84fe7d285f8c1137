"""Loads, stores and views: from indices to addresses, checked in every dimension."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from .clock import Access
from .errors import Finding, Site
from .lanes import Mask
from .memory import ArrayView, LocalArray
from .numba_types import cast
from .run import Run


def load(run: Run, array, indices: tuple, mask: Mask, site: Site):
    """The element of ``array`` at ``indices`` in each active lane.

    Inactive lanes hold zero. Lanes whose index is out of bounds are reported and read zero.
    """
    if isinstance(array, LocalArray):
        return _load_local(run, array, indices, mask, site)
    address, mask = _address(run, array, indices, mask, site)
    if mask is None:
        return np.zeros(run.batch.size, array.dtype)
    memory = array.memory
    if not isinstance(address, np.ndarray) and memory.plain:
        run.count_access(memory, "load", address, mask, site)
        return memory.data[address]
    access = _access(run, array, address, indices, mask, ("reads", site))
    run.count_access(memory, "load", access.addresses, mask, site)
    values = memory.load(access)
    if mask.full:
        return values
    result = np.zeros(run.batch.size, array.dtype)
    result[mask.index] = values
    return result


def store(run: Run, array, indices: tuple, value, mask: Mask, site: Site) -> None:
    """Write ``value``, cast to the array's type, to the element at ``indices`` of each lane."""
    value = cast(value, array.dtype)
    if isinstance(array, LocalArray):
        _store_local(run, array, indices, value, mask, site)
        return
    address, mask = _address(run, array, indices, mask, site)
    if mask is None:
        return
    access = _access(run, array, address, indices, mask, ("writes", site))
    run.count_access(array.memory, "store", access.addresses, mask, site)
    values = mask.select(value)
    if not isinstance(values, np.ndarray):
        values = np.full(mask.count, values)
    array.memory.store(access, values)


def load_wide(run: Run, array, indices: tuple, width: int, mask: Mask, site: Site) -> tuple:
    """``width`` neighbouring elements by one instruction, as a tuple of lane vectors."""
    accesses = _wide_accesses(run, array, (indices, width), mask, ("reads", site))
    result = [np.zeros(run.batch.size, array.dtype) for _ in range(width)]
    if accesses:
        first = accesses[0]
        run.count_access(array.memory, "load", first.addresses, first.mask, site, width)
        for vector, access in zip(result, accesses, strict=True):
            vector[access.mask.index] = array.memory.load(access)
    return tuple(result)


def store_wide(run: Run, array, indices: tuple, values: tuple, mask: Mask, site: Site) -> Callable:
    """The checks of a store of neighbouring elements; the function returned moves the data."""
    accesses = _wide_accesses(run, array, (indices, len(values)), mask, ("writes", site))
    if not accesses:
        return lambda: None
    first = accesses[0]
    run.count_access(array.memory, "store", first.addresses, first.mask, site, len(values))
    moves = []
    for value, access in zip(values, accesses, strict=True):
        chosen = access.mask.select(cast(value, array.dtype))
        chosen = np.broadcast_to(chosen, access.addresses.shape)
        moves.append((access, chosen, array.memory.announce(access, chosen)))

    def move() -> None:
        for announced in moves:
            array.memory.move(*announced)

    return move


def _wide_accesses(run: Run, array, where: tuple, mask: Mask, what: tuple) -> list[Access]:
    """One Access for each neighbour; none where no lane is in bounds."""
    indices, width = where
    last = (*indices[:-1], indices[-1] + np.int64(width - 1))
    _, mask = _address(run, array, last, mask, what[1])
    if mask is None:
        return []
    address, mask = _address(run, array, indices, mask, what[1])
    if mask is None:
        return []
    first = address if isinstance(address, np.ndarray) else np.full(mask.count, address)
    _check_alignment(run, array, (first, width), mask, what[1])
    return [_access(run, array, first + n, indices, mask, what) for n in range(width)]


def _check_alignment(run: Run, array, where: tuple, mask: Mask, site: Site) -> None:
    first, width = where
    crooked = first % width != 0
    if not crooked.any() or run.report.knows("out_of_bounds", site, array.name):
        return
    at = int(np.flatnonzero(crooked)[0])
    thread = run.batch.thread(int(mask.index[at]))
    run.report.add(Finding(
        "out_of_bounds", site, array.name, (int(first[at]),), (thread,), int(crooked.sum()),
        f"{thread} moves {width} elements of {array.name} at once from element {int(first[at])} "
        f"on, which is no multiple of {width}: the address is misaligned.",
    ))  # fmt: skip


def update(run: Run, array: ArrayView, indices: tuple, change: Callable, mask: Mask, site: Site):
    """An atomic operation on one element per active lane.

    ``change(data, addresses, lanes)`` works on the storage and returns the old values of these
    lanes, or None. Returns a vector of old values (zero in other lanes), or None.
    """
    address, mask = _address(run, array, indices, mask, site)
    if mask is None:
        return np.zeros(run.batch.size, array.dtype)
    access = _access(run, array, address, indices, mask, ("updates", site))
    run.count_access(array.memory, "atomic", access.addresses, mask, site)
    old = array.memory.update(access, lambda data, at: change(data, at, mask))
    if old is None:
        return None
    result = np.zeros(run.batch.size, array.dtype)
    result[mask.index] = old
    return result


def _access(run: Run, array: ArrayView, address, indices: tuple, mask: Mask, what: tuple) -> Access:
    verb, site = what
    if not isinstance(address, np.ndarray):
        address = np.full(mask.count, address)

    def locate(at: int) -> tuple[int, ...]:
        return tuple(int(_lane(i, int(mask.index[at]))) for i in indices)

    return Access(run.clock, site, verb, mask, address, run.clock.tick(site), locate)


def _lane(value, lane: int):
    return value[lane] if isinstance(value, np.ndarray) else value


def _address(run: Run, array: ArrayView, indices: tuple, mask: Mask, site: Site):
    """Element numbers for the active lanes (or one number for all), and the lanes in bounds."""
    positions, good = [], None
    for axis, index in enumerate(indices):
        extent = array.shape[axis]
        position, inside = _position(run, array, index, extent, mask, site)
        if inside is not None:
            _report_out_of_bounds(run, array, (indices, axis), (mask, inside), site)
            good = inside if good is None else good & inside
        positions.append(position)
    if good is not None:
        positions = [p[good] if isinstance(p, np.ndarray) else p for p in positions]
        if not good.any():
            return 0, None
        mask = mask.keep(good)
    address = mask.select(array.offset)
    for position, stride in zip(positions, array.strides, strict=True):
        address = address + (position if stride == 1 else position * stride)
    if array.memory.space == "shared" and run.batch.blocks > 1:
        part = array.memory.data.size // run.batch.blocks  # each block has its own
        address = address + mask.select(run.batch.block_row) * part
    return address, mask


def _position(run: Run, array, index, extent, mask: Mask, site: Site):
    """An index as a position 0 ≤ p < extent for the active lanes, and which are inside.

    The second is None when all are. Negative indices wrap once, as Numba defines it.
    """
    if isinstance(extent, np.ndarray):  # the length of a slice that differs by thread
        extent = mask.select(extent)
        index = np.broadcast_to(index, mask.lanes.shape)
    if not isinstance(index, np.ndarray):
        position = int(index)
        if position < 0:
            _warn_wrapped(run, array, index, mask, site)
            position += extent
        inside = None if 0 <= position < extent else np.zeros(mask.count, bool)
        return position, inside
    unsigned = index.dtype.kind == "u"  # never negative: nothing wraps
    position = mask.select(index).astype(np.int64, copy=False)
    if isinstance(extent, np.ndarray):
        extent = extent.astype(np.uint64)
    inside = position.view(np.uint64) < extent
    if inside.all():
        return position, None
    negative = position < 0
    if not unsigned and negative.any():
        position = np.where(negative, position + np.asarray(extent, np.int64), position)
        inside = position.view(np.uint64) < extent
        if (inside & negative).any():
            _warn_wrapped(run, array, index, mask, site)
        if inside.all():
            return position, None
    return position, inside


def _warn_wrapped(run: Run, array, index, mask: Mask, site: Site) -> None:
    if run.report.knows("wrapped_index", site, array.name):
        return
    lanes = mask.index[mask.select(index) < 0] if isinstance(index, np.ndarray) else mask.index
    thread = run.batch.thread(int(lanes[0]))
    value = int(_lane(index, int(lanes[0])))
    run.report.add(Finding(
        "wrapped_index", site, array.name, (value,), (thread,), len(lanes),
        f"{thread} computes the index {value} of {array.name}; Numba counts it from the end.",
    ))  # fmt: skip


def _report_out_of_bounds(run: Run, array, where: tuple, lanes: tuple, site: Site) -> None:
    (indices, axis), (mask, inside) = where, lanes
    if run.report.knows("out_of_bounds", site, array.name):
        return
    lane = int(mask.index[np.flatnonzero(~inside)[0]])
    element = tuple(int(_lane(i, lane)) for i in indices)
    shape = tuple(int(_lane(extent, lane)) for extent in array.shape)
    thread = run.batch.thread(lane)
    run.report.add(Finding(
        "out_of_bounds", site, array.name, element, (thread,), int((~inside).sum()),
        f"{thread} uses {array.name}{list(element)}; dimension {axis} of {array.name} has "
        f"{shape[axis]} elements (shape {shape}).",
    ))  # fmt: skip


def _row(run: Run, array: LocalArray, indices: tuple, mask: Mask, site: Site):
    """The row number of a local element: an int, or a lane vector, and the lanes in bounds."""
    row, good = 0, None
    for axis, index in enumerate(indices):
        position, inside = _position(run, array, index, array.shape[axis], mask, site)
        if inside is not None:
            _report_out_of_bounds(run, array, (indices, axis), (mask, inside), site)
            good = inside if good is None else good & inside
        row = row * array.shape[axis] + position
    if good is None:
        return row, mask
    if not good.any():
        return 0, None
    return (row[good] if isinstance(row, np.ndarray) else row), mask.keep(good)


def _load_local(run: Run, array: LocalArray, indices: tuple, mask: Mask, site: Site) -> np.ndarray:
    row, inside = _row(run, array, indices, mask, site)
    if inside is None:
        return np.zeros(run.batch.size, array.dtype)
    if not isinstance(row, np.ndarray):
        values, unwritten = array.load(row)
        _check_written(run, array, indices, unwritten, inside, site)
        return values
    result = np.zeros(run.batch.size, array.dtype)
    for number in np.unique(row):
        lanes = inside.keep(row == number)
        values, unwritten = array.load(int(number))
        _check_written(run, array, indices, unwritten, lanes, site)
        result[lanes.index] = values[lanes.index]
    return result


def _store_local(
    run: Run, array: LocalArray, indices: tuple, value, mask: Mask, site: Site
) -> None:
    row, inside = _row(run, array, indices, mask, site)
    if inside is None:
        return
    if not isinstance(value, np.ndarray):
        value = np.full(run.batch.size, value)
    if not isinstance(row, np.ndarray):
        array.store(row, value, inside)
        return
    for number in np.unique(row):
        array.store(int(number), value, inside.keep(row == number))


def _check_written(run: Run, array, indices: tuple, unwritten, mask: Mask, site: Site) -> None:
    if unwritten is None:
        return
    guilty = unwritten & mask.lanes
    if not guilty.any() or run.report.knows("uninitialised", site, array.name):
        return
    lane = int(np.flatnonzero(guilty)[0])
    element = tuple(int(_lane(i, lane)) for i in indices)
    thread = run.batch.thread(lane)
    run.report.add(Finding(
        "uninitialised", site, array.name, element, (thread,), int(guilty.sum()),
        f"{thread} reads {array.name}{list(element)} of its local array, which it has not written.",
    ))  # fmt: skip


def view(run: Run, array: ArrayView, indices: list, mask: Mask, site: Site) -> ArrayView:
    """A part of an array: each index is a position or a slice; missing ones at the end are whole.

    Slices are clipped as in Python. Positions and the bounds of slices may differ by thread.
    """
    offset, shape, strides = array.offset, [], []
    padded = indices + [slice(None)] * (len(array.shape) - len(indices))
    for axis, (index, extent) in enumerate(zip(padded, array.shape, strict=True)):
        if isinstance(index, slice):
            start, length, step = _slice_bounds(index, extent)
            offset = offset + start * array.strides[axis]
            shape.append(length)
            strides.append(step * array.strides[axis])
            continue
        _, inside = _position(run, array, index, extent, mask, site)
        if inside is not None:
            _report_out_of_bounds(run, array, ((index,), axis), (mask, inside), site)
        offset = offset + _wrapped(index, extent) * array.strides[axis]
    return ArrayView(array.memory, tuple(shape), tuple(strides), offset, array.writable)


def _slice_bounds(part: slice, extent) -> tuple:
    """Start, length and step of a slice; the first two are vectors where they differ by thread."""
    bounds = (part.start, part.stop, extent)
    step = 1 if part.step is None else int(part.step)
    if not any(isinstance(b, np.ndarray) for b in bounds):
        whole = slice(*(None if b is None else int(b) for b in bounds[:2]), step)
        start, stop, step = whole.indices(extent)
        return start, len(range(start, stop, step)), step
    low, high = (0, extent) if step > 0 else (-1, extent - 1)
    start, stop = (
        default if b is None else np.clip(np.where(b < 0, b + extent, b), low, high)
        for b, default in ((part.start, low if step > 0 else high),
                           (part.stop, high if step > 0 else low))
    )  # fmt: skip
    length = np.maximum(0, (stop - start + step - np.sign(step)) // step)
    return start, length.astype(np.int64), step


def expanded(indices: tuple, rank: int) -> tuple:
    """Indices with ``...`` written out as whole dimensions."""
    at = next((n for n, index in enumerate(indices) if index is Ellipsis), None)
    if at is None:
        return indices
    return indices[:at] + (slice(None),) * (rank + 1 - len(indices)) + indices[at + 1 :]


def store_part(run: Run, array, indices: tuple, value, mask: Mask, site: Site) -> bool:
    """Write a number to every element of a part of an array.

    False where the part is not the same in all threads.
    """
    whole = indices + (slice(None),) * (len(array.shape) - len(indices))
    bounds = [b for i in whole if isinstance(i, slice) for b in (i.start, i.stop)]
    if any(isinstance(v, np.ndarray) for v in (*bounds, *array.shape)):
        return False
    choices = []
    for index, extent in zip(whole, array.shape, strict=True):
        if isinstance(index, slice):
            start, length, step = _slice_bounds(index, extent)
            choices.append([np.int64(start + step * n) for n in range(length)])
        else:
            choices.append([index])
    for element in itertools.product(*choices):
        store(run, array, element, value, mask, site)
    return True


def _wrapped(index, extent: int):
    """A position inside the array for every lane, so that a reported one stays harmless."""
    wrapped = np.where(index < 0, index + extent, index).astype(np.int64)
    wrapped = np.clip(wrapped, 0, np.maximum(extent - 1, 0))
    return wrapped if wrapped.ndim else int(wrapped)
