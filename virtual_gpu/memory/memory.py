"""Storage of the virtual GPU, and arrays as a kernel sees them.

An address is the index of an element within one allocation, or its first byte in an allocation of
records whose fields are not aligned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..checks.clock import Access, Clock
from ..checks.shadow import Shadow, report_uninitialised
from ..common.lanes import Mask
from .filling import Filling
from .journal import Journal
from .overlap import View


class BlockPart(NamedTuple):
    """The part of an allocation in shared memory that belongs to one block.

    ``shape`` is that of the block's array. ``bytes`` is the distance from one block's part to the
    next, which may be larger than the array.
    """

    shape: tuple[int, ...]
    bytes: int  # stride from one block's part to the next


class Memory:
    """One allocation: flat storage of one dtype, with a shadow if threads can meet in it.

    ``name`` is that of the array, for messages, ``space`` is "global", "shared" or "constant", and
    ``data`` is the vector that stores the elements. ``initialised`` is False if reading an element
    that nobody wrote is an error, as in shared memory. ``unwritten`` marks the elements of device
    memory that are still undefined, and is None if all were defined from the start. ``part`` is the
    part of shared memory that one block has, and None elsewhere. ``alignment`` is the number of
    bytes that the declaration of a static shared array aligns it to, and None elsewhere. ``view``
    is the View of an array in dynamic shared memory, and None elsewhere. The parameter ``journal``
    is given where other memories have the same bytes; the attribute is None until the launch stores
    to the memory.
    """

    def __init__(
        self,
        name: str,
        space: str,
        data: np.ndarray,
        shadow: Shadow | None = None,
        unwritten: np.ndarray | None = None,
        part: BlockPart | None = None,
        journal: Journal | None = None,
    ):
        self.name = name
        self.space = space
        self.data = data
        self.shadow = shadow
        self.unwritten = unwritten
        self.part = part
        self.view: View | None = None  # of dynamic shared memory, which other arrays may share
        self.initialised = space != "shared"
        self.alignment: int | None = None
        # take() would copy the whole of data that overlaps itself.
        self._at = data.take if data.flags.c_contiguous else data.__getitem__
        self._shared_journal = journal
        self.journal: Journal | None = None  # for global memory that was written

    @property
    def step(self) -> int:
        """The bytes from one address to the next: those of an element, or 1."""
        return self.data.strides[0]

    @property
    def is_bytewise(self) -> bool:
        """True if each byte has an address, because elements may begin at any byte."""
        return self.step != self.data.itemsize

    @property
    def was_written(self) -> bool:
        """True if the launch has stored to this memory; always False outside of global memory."""
        return self.journal is not None

    @property
    def plain(self) -> bool:
        """True if a load can neither race nor read an undefined value, so it needs no check."""
        return self.shadow is None and self.unwritten is None

    def load(self, access: Access) -> np.ndarray:
        """Check a load, and return the values at its addresses, one per active lane.

        Races and reads of undefined elements are reported.
        """
        self._check_content(access)
        for units in self._units(access):
            self.shadow.check_load(access, units, self.initialised)
            if self.view is not None:
                self.view.check(access, units)
        return self._at(access.addresses)

    def store(self, access: Access, values: np.ndarray) -> None:
        """Check a store and write one value per active lane.

        If several lanes write to one address, the value of the lane with the highest number
        remains.
        """
        self.move(access, values, self.announce(access, values))

    def move(self, access: Access, values: np.ndarray, changed: np.ndarray | None) -> None:
        """Write the data of a store that ``announce`` has checked.

        ``changed`` is the result of ``announce``. Lanes whose value another lane of the same store
        overwrites with a different value are reported, unless no lane changes a stored value.
        """
        self.data[access.addresses] = values
        if changed is not None and changed.any():
            lost = ~same_bits(self._at(access.addresses), values)
            if lost.any():
                self.shadow.report_lost_write(access, next(self._units(access)), lost)

    def announce(self, access: Access, values: np.ndarray) -> np.ndarray | None:
        """Check and record a store without writing its data.

        Returns one bool per active lane: True if the lane changes the stored value. The result is
        None if the memory has no shadow.
        """
        self.save_before(access.addresses)
        self._mark_content(access)
        if self.shadow is None:
            return None
        changed = ~same_bits(self._at(access.addresses), values)
        for units in self._units(access):
            self.shadow.check_store(access, units, changed)
            if self.view is not None:
                self.view.note(units)
        return changed

    def store_plainly(self, address: int, value: np.generic) -> None:
        """Write one value without a check, to memory that is ``plain``."""
        self.save_before(np.array([address]))
        self.data[address] = value

    def writers(self, access: Access) -> np.ndarray:
        """Return the shadow word of the last writer of the element that each active lane accesses.

        The memory must have a shadow. The result is int64, with one entry per active lane. If an
        element has several units in the shadow, the word is that of the first unit.
        """
        return self.shadow.writer.take(next(self._units(access)))

    def restamp(self, access: Access) -> None:
        """Record that a store which ``announce`` has checked takes effect with this access.

        An asynchronous copy writes at its end, so only a barrier after that orders it.
        """
        for units in self._units(access):
            self.shadow.note_store(access, units)

    def update(self, access: Access, change: Callable) -> np.ndarray | None:
        """Check and perform an atomic operation, and return the result of ``change``.

        ``change(data, addresses)`` modifies the storage and returns the old values or None. Races
        and reads of undefined elements are reported.
        """
        self.save_before(access.addresses)
        self._check_content(access)
        for units in self._units(access):
            self.shadow.check_update(access, units, self.initialised)
            if self.view is not None:
                self.view.note(units)
        access.clock.atomic(access.mask, access.time)
        return change(self.data, access.addresses)

    def wrote_the_same(self, other: Memory) -> bool:
        """Return True if two launches wrote the same chunks with the same defined content.

        Both memories must have been swapped by ``swap_before`` after their launch. Two memories
        that were not written are the same.
        """
        if self.journal is None or other.journal is None:
            return self.journal is other.journal
        return self.journal.same_as(other.journal)

    def save_before(self, addresses: np.ndarray) -> None:
        """Save the content of global memory at addresses that are about to be changed."""
        if self.space == "global":
            if self.journal is None:
                self.journal = self._shared_journal or Journal(self.data, self.unwritten)
            self.journal.save(addresses)

    def settle(self, clock: Clock) -> None:
        """Move a finished batch's logged reads into the shadow while its clock is still known."""
        if self.shadow is not None:
            self.shadow.flush_reads(clock)

    def _units(self, access: Access):
        """Yield arrays of indices into the shadow, each with one entry per active lane.

        An element of the memory has one or several units in the shadow, and the n-th array holds
        the n-th unit of each lane's element. Memory without a shadow yields nothing.
        """
        if self.shadow is None:
            return
        parts = self.shadow.writer.size // self.data.size if self.data.size else 1
        if parts == 1:
            yield access.addresses
            return
        for part in range(parts):
            yield access.addresses * parts + part

    def _check_content(self, access: Access) -> None:
        """Report the active lanes that read an undefined element of device memory."""
        if self.unwritten is not None:
            undefined = self.unwritten.take(access.addresses)
            if undefined.any():
                report_uninitialised(access, self.name, undefined)

    def _mark_content(self, access: Access) -> None:
        """Mark the elements of an access as written."""
        if self.unwritten is not None:
            self.unwritten[access.addresses] = False


def same_bits(stored: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return a bool array: True where two arrays hold equal values.

    NaN equals NaN, and 0.0 equals -0.0, although their bits may differ.
    """
    return (stored == values) | ((stored != stored) & (values != values))


@dataclass(frozen=True)
class ArrayView:
    """An array as a kernel sees it: a shape and strides over a Memory.

    ``offset`` is the same for all lanes or a vector. It and ``strides`` count addresses of the
    memory, which are elements, or bytes if the memory's ``is_bytewise`` is True. ``bytewise`` is
    True if the compiler moves an element byte by byte, as a field of a packed record. ``is_part``
    is True if indices have selected the view from a larger array. ``writable`` is False if a kernel
    may not store to the array.
    """

    memory: Memory
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int | np.ndarray = 0
    writable: bool = True
    bytewise: bool = False
    is_part: bool = False

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the elements."""
        return self.memory.data.dtype

    @property
    def name(self) -> str:
        """The name of the memory, which error messages print."""
        return self.memory.name


class LocalArray:
    """A thread's private array, stored as one vector of lanes per element.

    A constant index thus costs one list lookup, as it costs a register on the device. ``rows`` has
    a vector per element, or None for one that was never written, and ``unwritten`` the lanes that
    have not written the element, or None if all have. ``row_of`` caches the row of constant
    indices. ``filling`` is the content of unwritten elements.
    """

    def __init__(
        self, name: str, shape: tuple[int, ...], dtype: np.dtype, lanes: int, filling: Filling
    ):
        self.name = name
        self.shape = shape
        self.dtype = dtype
        self.lanes = lanes
        self.filling = filling
        size = int(np.prod(shape))
        self.rows: list[np.ndarray | None] = [None] * size
        self.unwritten: list[np.ndarray | None] = [np.ones(lanes, bool)] * size  # None: all written
        self.row_of: dict[tuple, int] = {}  # cached for indices that are numbers within bounds

    def load(self, row: int) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the values of one element and the lanes that have never written it.

        Both are vectors with one entry per lane of the batch. The second is of bool, or None if all
        lanes have written the element.
        """
        values = self.rows[row]
        if values is None:
            values = self.filling.array(self.lanes, self.dtype)
        return values, self.unwritten[row]

    def store(self, row: int, values: np.ndarray, mask: Mask) -> None:
        """Write one element in the lanes of ``mask``.

        ``values`` has one entry per lane of the batch. If the mask has all lanes, the array keeps
        this vector itself, so it must not be changed later.
        """
        if mask.full:
            self.rows[row] = values
        else:
            before, _ = self.load(row)
            self.rows[row] = np.where(mask.lanes, values, before)
        missing = self.unwritten[row]
        if missing is not None:
            missing = missing & ~mask.lanes
            self.unwritten[row] = missing if missing.any() else None


@dataclass(frozen=True)
class LocalPart:
    """A part of a thread's private array, selected by slices or by fewer indices than dimensions.

    ``offset`` and ``strides`` count elements of ``base``. The offset and the extents of ``shape``
    are the same for all lanes, or vectors.
    """

    base: LocalArray
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int | np.ndarray = 0

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the elements."""
        return self.base.dtype

    @property
    def name(self) -> str:
        """The name of the whole array, which error messages print."""
        return self.base.name


Array = ArrayView | LocalArray | LocalPart
# Checked at each access; a union of types is slower.
ARRAY_TYPES = (ArrayView, LocalArray, LocalPart)


def constant_array(name: str, value: np.ndarray) -> ArrayView:
    """Return a read-only copy of a module's array, frozen at compilation as Numba freezes it."""
    memory = Memory(name, "constant", np.ascontiguousarray(value).ravel().copy())
    return ArrayView(memory, value.shape, element_strides(value.shape), writable=False)


def element_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides, in elements, of a C-contiguous array of this shape."""
    return tuple(int(np.prod(shape[axis + 1 :])) for axis in range(len(shape)))
