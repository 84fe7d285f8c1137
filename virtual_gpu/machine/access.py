"""Loads, stores and atomic updates of elements, counted and checked for races."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable

import numpy as np

from ..checks.clock import Access
from ..common.errors import Finding
from ..counts.transactions import COPY_ASYNC, LaneTransfer
from ..memory.memory import LocalArray, LocalPart
from ..types.numba_types import cast
from .lost_values import check_stored
from .place import Place, in_bounds, report_out_of_bounds

LOCAL_TYPES = (LocalArray, LocalPart)


def load(place: Place, before_atomic: bool = False):
    """Return the element in each active lane: a vector, or a scalar if all surely share it.

    A vector has one entry per lane of the batch; inactive lanes hold zero, or any value if the
    array is local. Lanes whose index is out of bounds are reported and read zero. ``before_atomic``
    is True for a load that only decides whether an atomic is tried; it may race with atomics.
    """
    if isinstance(place.array, LOCAL_TYPES):
        return _load_local(place)
    address, inside = _address(place)
    if inside is None:
        return _zeros(place)
    memory = place.array.memory
    if not isinstance(address, np.ndarray) and memory.plain:
        _count(inside, "load", address)
        return memory.data[address]
    access = _access(inside, address, "reads", before_atomic)
    _count(inside, "load", access.addresses)
    return inside.mask.spread(_values(inside, access))


def store(place: Place, value, by_data: bool = False) -> None:
    """Write ``value``, cast to the array's dtype, to the element of each active lane.

    Lanes whose index is out of bounds are reported and write nothing. ``by_data`` is True if the
    content of an array decides which lanes store, so that the others keep their elements on
    purpose.
    """
    if isinstance(place.array, LOCAL_TYPES):
        _store_local(place, value)
        return
    address, inside = _address(place)
    if inside is None:
        return
    value, memory = _stored(inside, value), place.array.memory
    if memory.plain and not isinstance(address, np.ndarray) and not isinstance(value, np.ndarray):
        _count(inside, "store", address)
        memory.store_plainly(address, value)
        return
    access = _access(inside, address, "writes")
    _count(inside, "store", access.addresses)
    is_tile = memory.space == "shared" and not by_data
    fill = place.run.fills.of(memory.name, place.site) if is_tile else None
    if fill is not None:
        fill.note(access, memory.writers(access))
    memory.store(access, inside.mask.entries(value))


def _stored(place: Place, value):
    """Return ``value`` cast to the dtype of the array; report numbers that this changes."""
    dtype = place.array.dtype
    if value.dtype == dtype:
        return value
    check_stored(place, value)
    return cast(value, dtype)


def update(place: Place, change: Callable) -> np.ndarray | None:
    """Perform an atomic operation on one element per active lane and return the old values.

    ``change(data, addresses, mask)`` modifies the storage and returns the old value per active
    lane, or None. The result is a vector with one entry per lane of the batch, zero in lanes that
    are inactive or out of bounds, or None if ``change`` returns None. If no lane is in bounds,
    ``change`` is not called, and the vector is zero everywhere.
    """
    if isinstance(place.array, LOCAL_TYPES):
        return _update_local(place, change)
    address, inside = _address(place)
    if inside is None:
        return _zeros(place)
    access = _access(inside, address, "updates")
    _count(inside, "atomic", access.addresses)
    old = place.array.memory.update(access, lambda data, at: change(data, at, inside.mask))
    return None if old is None else inside.mask.spread(old)


def load_wide(place: Place, width: int, aligned: bool, instruction: str = "load") -> tuple:
    """Load ``width`` consecutive elements per lane, and return a tuple of ``width`` lane vectors.

    The load counts as one ``instruction``. Lanes that are inactive or out of bounds read zero; an
    index below 0 is out of bounds. If ``aligned`` is True, the first element's address must be a
    multiple of ``width``; a lane for which it is not is reported, but reads its elements
    nevertheless.
    """
    address, inside = _wide_address(place, width, aligned)
    if inside is None:
        return tuple(_zeros(place) for _ in range(width))
    accesses = [_access(inside, address + n, "reads") for n in range(width)]
    _count(inside, "load", accesses[0].addresses, width, instruction)
    return tuple(inside.mask.spread(_values(inside, access)) for access in accesses)


def store_wide(place: Place, values: tuple, aligned: bool) -> None:
    """Store consecutive elements per lane, which counts as one instruction.

    ``values`` holds one number or lane vector per element. Lanes that are inactive or out of bounds
    store nothing; the latter are reported. If ``aligned`` is True, the first element's address must
    be a multiple of the number of elements, or the lane is reported.
    """
    memory = place.array.memory
    stores = [
        (access, entries, memory.announce(access, entries))
        for access, entries in _wide_stores(place, values, aligned)
    ]
    for store_of_one in stores:
        memory.move(*store_of_one)


def copy_wide(place: Place, values: tuple) -> None:
    """Start an asynchronous copy of consecutive elements per lane, as one counted instruction.

    ``values`` holds one number or lane vector per element. Lanes that are inactive or out of bounds
    copy nothing. The latter are reported, and so are lanes whose first address is no multiple of
    the number of elements.
    """
    for access, entries in _wide_stores(place, values, aligned=True, instruction=COPY_ASYNC):
        place.run.copies.start(place.array.memory, access, entries)


def _wide_stores(
    place: Place, values: tuple, aligned: bool, instruction: str = "store"
) -> list[tuple[Access, np.ndarray]]:
    """Count a store of consecutive elements per lane, and return a list with one entry per element.

    It counts as one ``instruction``.

    An entry has the Access, and the value of each of its active lanes.
    """
    width = len(values)
    address, inside = _wide_address(place, width, aligned)
    if inside is None:
        return []
    accesses = [_access(inside, address + n, "writes") for n in range(width)]
    _count(inside, "store", accesses[0].addresses, width, instruction)
    dtype = place.array.dtype
    entries = [inside.mask.entries(cast(value, dtype)) for value in values]
    return list(zip(accesses, entries, strict=True))


def _zeros(place: Place) -> np.ndarray:
    """Return a vector of zeros, one per lane of the batch, of the array's dtype."""
    return np.zeros(place.run.batch.size, place.array.dtype)


def _values(place: Place, access: Access) -> np.ndarray:
    """Return what a load reads, one value per active lane, changed if the launch asks for it.

    Elements that are left from an earlier round of the line that fills the array are reported.
    """
    run, memory = place.run, place.array.memory
    values = memory.load(access)
    if memory.space != "shared":
        return values
    if run.fills.partial(memory.name):
        stale = run.fills.stale(memory.name, access, memory.writers(access))
        if stale is not None and run.filling.disturbs == memory.name:
            values = np.where(stale, values + values.dtype.type(1), values)
    if run.change is None:
        return values
    return run.change.applied(memory.name, place.mask.index, access.addresses, values)


def _count(place: Place, kind: str, addresses, width: int = 1, instruction: str = "") -> None:
    """Add an access to the counters of the launch, if it has counters.

    ``kind`` is "load", "store" or "atomic". ``addresses`` holds the address of each active lane's
    first of ``width`` elements, or is one number that they share. ``instruction`` is the
    instruction that makes the access, if it is not the usual one of its kind.
    """
    counters = place.run.counters
    if counters:
        array, blocks = place.array, place.run.batch.blocks
        where = place.mask, place.site, blocks, array.bytewise
        what = instruction or kind
        counters.access(LaneTransfer(array.memory, kind, width, addresses, *where, what))


def _access(place: Place, address, verb: str, before_atomic: bool = False) -> Access:
    """Return one Access for all active lanes of a place, which must be in bounds.

    ``address`` is one address per active lane, or a number that all of them share. ``verb`` is
    "reads", "writes" or "updates". The clock gives the access a new time. If the access touches the
    target of an asynchronous copy that has not ended, that is reported.
    """
    run, mask, site = place.run, place.mask, place.site
    addresses = address if isinstance(address, np.ndarray) else np.full(mask.count, address)

    def locate(position: int) -> tuple[int, ...]:
        return place.element(int(mask.index[position]))

    time = run.clock.tick(site)
    access = Access(run.clock, site, verb, mask, addresses, time, locate, before_atomic)
    if run.copies.in_flight:
        run.copies.check(place.array.memory, access)
    return access


def _address(place: Place) -> tuple[int | np.ndarray, Place | None]:
    """Return the addresses of a place, and the place narrowed to the lanes in bounds.

    The first result is an address per active lane of the narrowed place, or one number if they
    share it. The other lanes are reported. The place is None, and the address 0, if no lane is in
    bounds.
    """
    positions, inside = in_bounds(place)
    if inside is None:
        return 0, None
    array, mask = place.array, inside.mask
    fixed, varying = 0, []
    for position, stride in zip((array.offset, *positions), (1, *array.strides), strict=True):
        if not isinstance(position, np.ndarray):
            fixed += int(position) * stride
        elif position is array.offset:
            varying.append(mask.select(position))
        else:
            varying.append(_product(inside, position, stride))
    if array.memory.space == "shared" and place.run.batch.blocks > 1:
        varying = _with_block_start(inside, varying)
    address = functools.reduce(operator.add, varying) if varying else 0
    return address + fixed if fixed or not varying else address, inside


def _product(place: Place, position: np.ndarray, stride: int) -> np.ndarray:
    """Return the vector ``position * stride``.

    It is cached, because the next iteration of a loop often needs it again.
    """
    if stride == 1:
        return position
    product = place.run.products.find(position, place.mask, stride)
    if product is None:
        product = position * stride
        place.run.products.keep(product, position, place.mask, stride)
    return product


def _with_block_start(place: Place, terms: list[np.ndarray]) -> list[np.ndarray]:
    """Return the terms of a shared-memory address, with the start of each lane's block added.

    If there is one term, the result is a list with the sum, which is cached because it often
    recurs. Otherwise the starts are appended to the terms.
    """
    batch, sums = place.run.batch, place.run.sums
    starts = place.mask.select(batch.part_starts(place.array.memory.data.size // batch.blocks))
    if len(terms) != 1:
        return [*terms, starts]
    total = sums.find(terms[0], starts)
    if total is None:
        total = terms[0] + starts
        sums.keep(total, terms[0], starts)
    return [total]


def _wide_address(place: Place, width: int, aligned: bool) -> tuple[int | np.ndarray, Place | None]:
    """Return the address of the first of ``width`` consecutive elements per lane, and a place.

    The address is a vector with one entry per active lane of that place, or one number if they
    share it. The place is narrowed to the lanes for which all of these elements are in bounds, or
    None, with the address 0, if there are none. The other lanes are reported, and so are misaligned
    ones if ``aligned`` is True, but these stay in the place.
    """
    *outer, innermost = place.indices
    non_negative = place.mask.entries(innermost) >= 0
    if not non_negative.all():  # a wide access does not count negative indices from the end
        report_out_of_bounds(place, len(outer), non_negative)
        if not non_negative.any():
            return 0, None
        place = place.narrowed(place.mask.keep(non_negative))
    _, inside = _address(place.at((*outer, innermost + np.int64(width - 1))))
    if inside is None:
        return 0, None
    address, inside = _address(place.narrowed(inside.mask))
    if inside is not None and aligned:
        _check_alignment(inside, address, width)
    return address, inside


def _check_alignment(place: Place, address, width: int) -> None:
    """Report the active lanes whose address is no multiple of ``width``.

    ``address`` is counted in elements: one per active lane, or one number that they share.
    """
    first = np.broadcast_to(address, place.mask.count)
    memory, batch = place.array.memory, place.run.batch
    if memory.part:  # each block's part is aligned
        first = first - place.mask.select(batch.part_starts(memory.data.size // batch.blocks))
    misaligned = first % width != 0
    if not misaligned.any():
        return
    lanes, name = place.mask.index[misaligned], place.array.name

    def describe() -> Finding:
        number, thread = int(first[misaligned][0]), batch.thread(int(lanes[0]))
        return Finding(
            "out_of_bounds", place.site, name, (number,), (thread,), len(lanes),
            f"{thread} moves {width} elements of {name} at once from element {number} "
            f"on, which is no multiple of {width}: the address is misaligned.",
        )  # fmt: skip

    place.run.report.add(place.flaw("out_of_bounds", lanes), describe)


# --- local arrays ----------------------------------------------------------------------------


def _row(place: Place) -> tuple[int | np.ndarray, Place | None]:
    """Return the row number of an element of a local array, and the place in bounds.

    The row number indexes ``LocalArray.rows``; it is an int, or a vector with one entry per lane in
    bounds. The second result is the place narrowed to the lanes in bounds, or None if there are
    none; the row number then has no meaning. The other lanes are reported.
    """
    if isinstance(place.array, LocalPart):
        return _row_of_part(place)
    rows = place.array.row_of
    try:
        row = rows.get(place.indices)
    except TypeError:  # indices that differ by lane
        return _computed_row(place)
    if row is not None:
        return row, place
    row, inside = _computed_row(place)
    if inside is place and all(index >= 0 for index in place.indices):
        rows[place.indices] = row
    return row, inside


def _computed_row(place: Place) -> tuple[int | np.ndarray, Place | None]:
    """Return the row number of an element of a whole local array, and the place in bounds.

    The row number is an int, or a vector with one entry per lane in bounds. The place is narrowed
    to the lanes in bounds, or None if there are none; the row number then has no meaning. The other
    lanes are reported.
    """
    positions, inside = in_bounds(place)
    row = 0
    for position, extent in zip(positions, place.array.shape, strict=True):
        row = row * extent + position
    return row, inside


def _row_of_part(place: Place) -> tuple[int | np.ndarray, Place | None]:
    """Return the row number of an element of a part of a local array, and the place in bounds.

    The row number indexes the rows of the whole array. It is an int, or a vector with one entry per
    lane in bounds. The place is narrowed to the lanes in bounds, or None if there are none; the row
    number is then 0. The other lanes are reported.
    """
    positions, inside = in_bounds(place)
    if inside is None:
        return 0, None
    part = place.array
    offset = part.offset
    row = inside.mask.select(offset) if isinstance(offset, np.ndarray) else offset
    for position, stride in zip(positions, part.strides, strict=True):
        row = row + position * stride
    return row, inside


def _storage(array: LocalArray | LocalPart) -> LocalArray:
    """Return the local array itself, or the whole array that a part belongs to."""
    return array.base if isinstance(array, LocalPart) else array


def _load_local(place: Place) -> np.ndarray:
    """Return the element of a local array in each active lane, as a vector of all lanes.

    Inactive lanes hold any value. Lanes out of bounds, and lanes that have not written the element,
    are reported.
    """
    row, inside = _row(place)
    if inside is None:
        return _zeros(place)
    if not isinstance(row, np.ndarray):
        values, unwritten = _storage(place.array).load(row)
        if unwritten is not None:
            _check_written(inside, unwritten)
        return values
    result = _zeros(place)
    for number in np.unique(row):
        part = inside.narrowed(inside.mask.keep(row == number))
        values, unwritten = _storage(place.array).load(int(number))
        if unwritten is not None:
            _check_written(part, unwritten)
        result[part.mask.index] = values[part.mask.index]
    return result


def _store_local(place: Place, value) -> None:
    """Write ``value`` to the element of a local array in each active lane.

    ``value`` is a NumPy scalar or a lane vector, which is cast to the array's dtype. Lanes out of
    bounds are reported and write nothing.
    """
    row, inside = _row(place)
    if inside is None:
        return
    value = _stored(inside, value)
    if not isinstance(value, np.ndarray):
        value = np.full(place.run.batch.size, value)
    if not isinstance(row, np.ndarray):
        _storage(place.array).store(row, value, inside.mask)
        return
    for number in np.unique(row):
        _storage(place.array).store(int(number), value, inside.mask.keep(row == number))


def _update_local(place: Place, change: Callable) -> np.ndarray | None:
    """Perform an atomic operation on one element of a local array per active lane.

    ``change(data, addresses, mask)`` modifies the vector ``data``, which has one entry per lane, at
    the ``addresses``, the indices of the lanes. Returns its old values as a vector with one entry
    per lane, zero in lanes that are inactive or out of bounds, or None if ``change`` returns None.
    Lanes out of bounds, and lanes that have not written the element, are reported.
    """
    row, inside = _row(place)
    if inside is None:
        return _zeros(place)
    array, result = _storage(place.array), _zeros(place)
    rows = np.broadcast_to(row, inside.mask.count)
    for number in np.unique(rows):
        part = inside.narrowed(inside.mask.keep(rows == number))
        values, unwritten = array.load(int(number))
        if unwritten is not None:
            _check_written(part, unwritten)
        values = values.copy()
        old = change(values, part.mask.index, part.mask)
        array.store(int(number), values, part.mask)
        if old is None:
            result = None
        elif result is not None:
            result[part.mask.index] = old
    return result


def _check_written(place: Place, unwritten: np.ndarray) -> None:
    """Report the active lanes that read an element of a local array before writing it.

    ``unwritten`` holds one bool per lane of the batch: True if the lane has not written the
    element.
    """
    reading = unwritten & place.mask.lanes
    if not reading.any():
        return
    lanes, name = np.flatnonzero(reading), place.array.name

    def describe() -> Finding:
        element, thread = place.element(int(lanes[0])), place.run.batch.thread(int(lanes[0]))
        what = f"{name}{list(element)} of its local array"
        if isinstance(place.array, LocalPart):
            what = f"element {list(element)} of a part of its local array {name}"
        return Finding(
            "uninitialised", place.site, name, element, (thread,), len(lanes),
            f"{thread} reads {what}, which it has not written.",
        )  # fmt: skip

    place.run.report.add(place.flaw("uninitialised", lanes), describe)
