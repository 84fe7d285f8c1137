"""Memory of the virtual GPU: storage, and arrays as a kernel sees them.

An address is an element number within one allocation.
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


class BlockPart(NamedTuple):
    """What one block has of an allocation in shared memory."""

    shape: tuple[int, ...]
    bytes: int  # from one block's part to the next


class Memory:
    """One allocation: flat storage of one dtype, and its shadow where threads can meet in it.

    born: False where reading an element that nobody wrote is an error (shared memory).
    unwritten: for device memory without content, which elements are still undefined.
    part: what each block has of shared memory; None elsewhere.
    """

    def __init__(
        self,
        name: str,
        space: str,
        data: np.ndarray,
        shadow: Shadow | None = None,
        unwritten: np.ndarray | None = None,
        part: BlockPart | None = None,
    ):
        self.name = name
        self.space = space
        self.data = data
        self.shadow = shadow
        self.unwritten = unwritten
        self.part = part
        self.born = space != "shared"
        self._before: Journal | None = None  # of global memory that was written

    @property
    def was_written(self) -> bool:
        """Whether the launch has stored anything here."""
        return self.shadow is not None and self.shadow.written

    @property
    def plain(self) -> bool:
        """Whether a load needs no bookkeeping."""
        return self.shadow is None and self.unwritten is None

    def load(self, access: Access) -> np.ndarray:
        """The values at the access's addresses, one per active lane."""
        self._check_content(access)
        for units in self._units(access):
            self.shadow.check_load(access, units, self.born)
        return self.data.take(access.addresses)

    def store(self, access: Access, values: np.ndarray) -> None:
        """Write one value per active lane; of several to one address the last lane's stays."""
        self.move(access, values, self.announce(access, values))

    def move(self, access: Access, values: np.ndarray, changed: np.ndarray | None) -> None:
        """The data of a store that was announced, and whether other lanes stored there as well."""
        self.data[access.addresses] = values
        if changed is not None and changed.any():
            lost = ~same_bits(self.data.take(access.addresses), values)
            if lost.any():
                self.shadow.report_lost_write(access, next(self._units(access)), lost)

    def announce(self, access: Access, values: np.ndarray) -> np.ndarray | None:
        """The checks of a store, without its data; returns which lanes change something."""
        self._keep_before(access)
        if self.shadow is None:
            return None
        changed = ~same_bits(self.data.take(access.addresses), values)
        for units in self._units(access):
            self.shadow.check_store(access, units, changed)
        self._mark_content(access)
        return changed

    def update(self, access: Access, change: Callable) -> np.ndarray | None:
        """An atomic operation: ``change(data, addresses)`` works on the storage."""
        self._keep_before(access)
        self._check_content(access)
        for units in self._units(access):
            self.shadow.check_update(access, units, self.born)
        access.clock.atomic(access.mask, access.time)
        return change(self.data, access.addresses)

    def swap_before(self) -> None:
        """Exchange what stands here with what stood here before the launch."""
        if self._before is not None:
            self._before.swap()

    def wrote_the_same(self, other: Memory) -> bool:
        """Whether two launches that were both swapped have left the same."""
        if self._before is None or other._before is None:
            return self._before is other._before
        return self._before.same_as(other._before)

    def _keep_before(self, access: Access) -> None:
        if self.space == "global":
            if self._before is None:
                self._before = Journal(self.data, self.unwritten)
            self._before.keep(access.addresses)

    def settle(self, clock: Clock) -> None:
        """A batch is over: its reads go into the shadow while its clock is still known."""
        if self.shadow is not None:
            self.shadow.flush_reads(clock)

    def _units(self, access: Access):
        """The shadow units of each address: one array for each unit that an element covers."""
        if self.shadow is None:
            return
        parts = self.shadow.writer.size // self.data.size if self.data.size else 1
        if parts == 1:
            yield access.addresses
            return
        for part in range(parts):
            yield access.addresses * parts + part

    def _check_content(self, access: Access) -> None:
        if self.unwritten is not None:
            undefined = self.unwritten.take(access.addresses)
            if undefined.any():
                report_uninitialised(access, self.name, undefined)

    def _mark_content(self, access: Access) -> None:
        if self.unwritten is not None:
            self.unwritten[access.addresses] = False


def same_bits(stored: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Equal, where NaN equals NaN."""
    return (stored == values) | ((stored != stored) & (values != values))


@dataclass(frozen=True)
class ArrayView:
    """An array as a kernel sees it: a shape and strides over a Memory.

    ``offset`` (elements) is the same for all lanes or a vector; ``strides`` count elements.
    ``bytewise``: the compiler moves an element byte by byte, as a field of a packed record.
    ``is_part``: indices have selected it from a larger array.
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
        return self.memory.data.dtype

    @property
    def name(self) -> str:
        return self.memory.name


class LocalArray:
    """A thread's private array: one row of lanes per element, so that a constant index costs a
    list look-up, as a register does."""

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
        self.row_of: dict[tuple, int] = {}  # of indices that were numbers within bounds

    def load(self, row: int) -> tuple[np.ndarray, np.ndarray | None]:
        """The vector of one element, and the lanes that have never written it (None: none)."""
        values = self.rows[row]
        if values is None:
            values = self.filling.array(self.lanes, self.dtype)
        return values, self.unwritten[row]

    def store(self, row: int, values: np.ndarray, mask: Mask) -> None:
        """Write one element in the lanes of ``mask``; ``values`` has one entry per lane."""
        if mask.full:
            self.rows[row] = values
        else:
            before, _ = self.load(row)
            self.rows[row] = np.where(mask.lanes, values, before)
        missing = self.unwritten[row]
        if missing is not None:
            missing = missing & ~mask.lanes
            self.unwritten[row] = missing if missing.any() else None


Array = ArrayView | LocalArray
ARRAY_TYPES = (ArrayView, LocalArray)  # asked for at each access: a union of types is slower


def constant_array(name: str, value: np.ndarray) -> ArrayView:
    """An array of the surrounding module, frozen at compilation as Numba freezes it."""
    memory = Memory(name, "constant", np.ascontiguousarray(value).ravel().copy())
    return ArrayView(memory, value.shape, element_strides(value.shape), writable=False)


def element_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides, in elements, of a C-contiguous array."""
    return tuple(int(np.prod(shape[axis + 1 :])) for axis in range(len(shape)))
