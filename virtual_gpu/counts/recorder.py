"""Records what one block does, in order: its accesses, barriers, shuffles and votes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..common.errors import LaunchError, Site
from ..common.lanes import Batch, Geometry, Mask
from ..memory.memory import Memory
from .transactions import Transfer

MOST_EVENTS = 4000


@dataclass(frozen=True)
class RecordedArray:
    """An array that the block touched. ``strides``: elements from one index to the next."""

    name: str
    space: str  # "global" or "shared"
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int


@dataclass(frozen=True, eq=False)
class Event:
    """One instruction of the block: all its threads at one place of the source.

    kind: load, store, atomic, barrier, syncwarp, shuffle, vote or match. operation: tells two
    places of one line apart. array, width: what is accessed, and how many neighbouring elements by
    each thread; empty and 0 elsewhere. first: int64, one per thread of the block, -1 where it takes
    no part; the number of the first element in memory, of shared memory within the block's part,
    and 0 where no array is accessed. sources: of a shuffle, the lane that each thread reads from,
    int64, -1 likewise. values: where asked for, what each thread loads or gets, or what is in the
    element after a store or an atomic, which all blocks that run together have made by then; of the
    array's type, shape (threads,) or (threads, width), 0 likewise; None for a barrier and for a
    store of several elements.
    """

    line: int
    file: str  # a short name
    operation: int
    kind: str
    array: str
    width: int
    first: np.ndarray
    values: np.ndarray | None = None
    sources: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Recording:
    """What one block did, in order. All its warps advance together, one operation at a time; a
    device promises that order only where barriers make it.

    block: its coordinates (x, y, z). shape: the block's extent. left_out: events beyond the limit.
    """

    block: tuple[int, int, int]
    shape: tuple[int, int, int]
    arrays: tuple[RecordedArray, ...]
    events: tuple[Event, ...]
    left_out: int

    def __repr__(self) -> str:
        more = f" and {self.left_out:,} left out" if self.left_out else ""
        return f"<Recording of block {self.block}: {len(self.events):,} events{more}>"


@dataclass(frozen=True)
class Order:
    """What is to be recorded: a block by its number in the grid, with or without values."""

    block: int
    values: bool
    most_events: int


def order(geometry: Geometry, block, values: bool, most_events: int) -> Order:
    """The order for the block with these coordinates: an int, or a tuple of up to three.

    Raises LaunchError for a block that the grid does not have.
    """
    given = block if isinstance(block, tuple | list) else (block,)
    whole = all(isinstance(b, int | np.integer) for b in given) and 1 <= len(given) <= 3
    at = (*given, 0, 0)[:3]
    if not whole or any(not 0 <= b < size for b, size in zip(at, geometry.grid, strict=True)):
        raise LaunchError(
            f"record={block!r}; it must be the coordinates of a block of the grid {geometry.grid}."
        )
    x, y, _ = geometry.grid
    return Order(int(at[0] + x * (at[1] + y * at[2])), values, most_events)


class Recorder:
    """Keeps the events of the block that was ordered."""

    def __init__(self, geometry: Geometry, wanted: Order):
        self._geometry = geometry
        self.order = wanted
        self.forget()

    def forget(self) -> None:
        """The launch begins, or begins again."""
        self._start = 0  # of the block's lanes in the batch
        self._row: int | None = None  # of the block in the batch; None: it is not there
        self._blocks = 1  # of the batch
        self._events: list[Event] = []
        self._left_out = 0
        self._operations: dict[tuple, int] = {}
        self._arrays: dict[Memory, str] = {}
        self._unread: tuple | None = None  # a store whose data is not there yet

    def begin(self, batch: Batch) -> None:
        """The blocks of this batch are about to run."""
        self._read_back()
        row = self.order.block - batch.first
        self._row = row if 0 <= row < batch.blocks else None
        self._start, self._blocks = row * batch.width, batch.blocks

    def access(self, transfer: Transfer) -> None:
        """A load, store or atomic; called before its data moves."""
        self._read_back()
        found = self._part(transfer.mask)
        if found is None or self._is_full():
            return
        threads, chosen = found
        memory, addresses = transfer.memory, transfer.addresses
        elements = addresses[chosen] if isinstance(addresses, np.ndarray) else addresses
        elements = np.broadcast_to(elements, threads.shape)
        shared = memory.space == "shared"
        base = self._row * (memory.data.size // self._blocks) if shared else 0
        what = (self._name(memory), transfer.width, self._spread(threads, elements - base, -1))
        values = self._values(transfer, threads, elements) if self.order.values else None
        self._events.append(Event(*self._place(transfer.site, transfer.kind), *what, values))

    def meeting(self, kind: str, mask: Mask, site: Site, values=None, sources=None) -> None:
        """A barrier, shuffle or vote; ``values`` and ``sources`` have one entry per lane."""
        self._read_back()
        found = self._part(mask)
        if found is None or self._is_full():
            return
        threads, _ = found
        first = self._spread(threads, np.zeros(threads.shape, np.int64), -1)
        lanes = self._start + threads
        if values is not None:
            values = self._spread(threads, values[lanes], 0) if self.order.values else None
        if sources is not None:
            sources = self._spread(threads, sources[lanes], -1)
        self._events.append(Event(*self._place(site, kind), "", 0, first, values, sources))

    def recording(self, names: Mapping[str, str], arguments: Mapping[str, object]) -> Recording:
        """All events. ``names``: short names of files; ``arguments``: the kernel's, by name."""
        self._read_back()
        x, y, _ = self._geometry.grid
        number = self.order.block
        return Recording(
            (number % x, number // x % y, number // (x * y)),
            self._geometry.block,
            tuple(_described(memory, name, arguments) for memory, name in self._arrays.items()),
            tuple(replace(event, file=names[event.file]) for event in self._events),
            self._left_out,
        )

    def _part(self, mask: Mask) -> tuple[np.ndarray, slice] | None:
        """The block's threads in a mask, and where they stand among its active lanes."""
        if self._row is None:
            return None
        index = mask.index
        stop = self._start + self._geometry.lanes_per_block
        first, last = np.searchsorted(index, (self._start, stop))
        return (index[first:last] - self._start, slice(first, last)) if first < last else None

    def _is_full(self) -> bool:
        full = len(self._events) >= self.order.most_events
        self._left_out += full
        return full

    def _spread(self, threads: np.ndarray, entries: np.ndarray, absent) -> np.ndarray:
        """Entries of some threads as one entry for each thread of the block."""
        size = (self._geometry.threads, *np.shape(entries)[1:])
        result = np.full(size, absent, entries.dtype)
        result[threads] = entries
        return result

    def _place(self, site: Site, kind: str) -> tuple[int, str, int, str]:
        key = (site.file, site.line, site.column, kind)
        number = self._operations.setdefault(key, len(self._operations))
        return site.line, site.file, number, kind

    def _name(self, memory: Memory) -> str:
        """Of two arrays with one name, as of two functions, the second has a number."""
        if memory not in self._arrays:
            taken, name, number = set(self._arrays.values()), memory.name, 1
            while name in taken:
                number += 1
                name = f"{memory.name} ({number})"
            self._arrays[memory] = name
        return self._arrays[memory]

    def _values(self, transfer: Transfer, threads: np.ndarray, elements: np.ndarray):
        """What a load reads; what a store or an atomic leaves is read when it is there."""
        memory, width = transfer.memory, transfer.width
        if transfer.kind == "load":
            if width > 1:
                elements = elements[:, None] + np.arange(width)
            return self._spread(threads, memory.data[elements], 0)
        if width > 1:  # an asynchronous copy moves its data later
            return None
        values = self._spread(threads, np.zeros(threads.shape, memory.data.dtype), 0)
        self._unread = (memory, threads, elements, values)
        return values

    def _read_back(self) -> None:
        if self._unread is not None:
            memory, threads, elements, values = self._unread
            values[threads] = memory.data[elements]
            self._unread = None


def _described(memory: Memory, name: str, arguments: Mapping[str, object]) -> RecordedArray:
    argument, itemsize = arguments.get(name), memory.data.dtype.itemsize
    if memory.space == "global" and hasattr(argument, "shape"):
        strides = tuple(s // itemsize for s in argument.strides)
        return RecordedArray(name, memory.space, tuple(argument.shape), strides, itemsize)
    shape = memory.part.shape if memory.part else (memory.data.size,)
    strides = tuple(int(np.prod(shape[axis + 1 :])) for axis in range(len(shape)))
    return RecordedArray(name, memory.space, shape, strides, itemsize)
