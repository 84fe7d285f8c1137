"""Memory of the virtual GPU: storage, and arrays as a kernel sees them.

An address is an element number within one allocation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .clock import Access, Clock
from .lanes import Mask
from .shadow import Shadow, report_uninitialised


class Memory:
    """One allocation: flat storage of one dtype, and its shadow where threads can meet in it.

    born: False where reading an element that nobody wrote is an error (shared memory).
    unwritten: for device memory without content, which elements are still undefined.
    """

    def __init__(
        self,
        name: str,
        space: str,
        data: np.ndarray,
        shadow: Shadow | None = None,
        unwritten: np.ndarray | None = None,
    ):
        self.name = name
        self.space = space
        self.data = data
        self.shadow = shadow
        self.unwritten = unwritten
        self.born = space != "shared"

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
        return self.data[access.addresses]

    def store(self, access: Access, values: np.ndarray) -> None:
        """Write one value per active lane; of several to one address the last lane's stays."""
        self.move(access, values, self.announce(access, values))

    def move(self, access: Access, values: np.ndarray, changed: np.ndarray | None) -> None:
        """The data of a store that was announced, and whether other lanes stored there as well."""
        self.data[access.addresses] = values
        if changed is not None and changed.any():
            lost = ~same_bits(self.data[access.addresses], values)
            if lost.any():
                self.shadow.report_lost_write(access, next(self._units(access)), lost)

    def announce(self, access: Access, values: np.ndarray) -> np.ndarray | None:
        """The checks of a store, without its data; returns which lanes change something."""
        if self.shadow is None:
            return None
        changed = ~same_bits(self.data[access.addresses], values)
        for units in self._units(access):
            self.shadow.check_store(access, units, changed)
        self._mark_content(access)
        return changed

    def update(self, access: Access, change: Callable) -> np.ndarray | None:
        """An atomic operation: ``change(data, addresses)`` works on the storage."""
        self._check_content(access)
        for units in self._units(access):
            self.shadow.check_update(access, units, self.born)
        if self.space == "global":
            access.clock.atomic(access.mask, access.time)
        return change(self.data, access.addresses)

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
            undefined = self.unwritten[access.addresses]
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
    """

    memory: Memory
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int | np.ndarray = 0
    writable: bool = True

    @property
    def dtype(self) -> np.dtype:
        return self.memory.data.dtype

    @property
    def name(self) -> str:
        return self.memory.name


class LocalArray:
    """A thread's private array: one row of lanes per element, so that a constant index costs a
    list look-up, as a register does."""

    def __init__(self, name: str, shape: tuple[int, ...], dtype: np.dtype, lanes: int):
        self.name = name
        self.shape = shape
        self.dtype = dtype
        self.lanes = lanes
        size = int(np.prod(shape))
        self.rows: list[np.ndarray | None] = [None] * size
        self.unwritten: list[np.ndarray | None] = [np.ones(lanes, bool)] * size  # None: all written

    def load(self, row: int) -> tuple[np.ndarray, np.ndarray | None]:
        """The vector of one element, and the lanes that have never written it (None: none)."""
        values = self.rows[row]
        if values is None:
            values = np.zeros(self.lanes, self.dtype)
        return values, self.unwritten[row]

    def store(self, row: int, values: np.ndarray, mask: Mask) -> None:
        """Write one element in the lanes of ``mask``; ``values`` has one entry per lane."""
        if mask.full or self.rows[row] is None:
            self.rows[row] = values
        else:
            self.rows[row] = np.where(mask.lanes, values, self.rows[row])
        missing = self.unwritten[row]
        if missing is not None:
            missing = missing & ~mask.lanes
            self.unwritten[row] = missing if missing.any() else None


Array = ArrayView | LocalArray


def constant_array(name: str, value: np.ndarray) -> ArrayView:
    """An array of the surrounding module, frozen at compilation as Numba freezes it."""
    memory = Memory(name, "constant", np.ascontiguousarray(value).ravel().copy())
    return ArrayView(memory, value.shape, element_strides(value.shape), writable=False)


def element_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides, in elements, of a C-contiguous array."""
    return tuple(int(np.prod(shape[axis + 1 :])) for axis in range(len(shape)))
