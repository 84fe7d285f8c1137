"""The recording of one block, in order: its accesses, barriers, shuffles and votes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..common.errors import LaunchError, Site
from ..common.lanes import Batch, Geometry, Mask
from ..memory.memory import Memory
from .transactions import LaneTransfer

MOST_EVENTS = 4000


@dataclass(frozen=True)
class RecordedArray:
    """An array that the recorded block accessed; ``strides`` are in elements.

    ``space`` is "global" or "shared", ``shape`` the number of elements per dimension, and
    ``itemsize`` the bytes of an element.
    """

    name: str
    space: str  # "global" or "shared"
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int


@dataclass(frozen=True, eq=False)
class Event:
    """One instruction of the block, executed by all its threads at one point of the source.

    ``line`` and ``file`` are those of its source line; in a Recording, the file is its short name.
    ``kind`` is load, store, atomic, barrier, fence (of the whole grid), fence_block, syncwarp,
    shuffle, vote, match or mma. ``operation`` distinguishes two operations of one line. ``array``
    is the array that is accessed, and ``width`` the number of consecutive elements per thread;
    without an access they are empty and 0.

    ``first`` (int64, one entry per thread of the block) is the index in memory of the first element
    that a thread accesses. In shared memory it counts within the block's part. It is 0 if no array
    is accessed, and -1 for a thread that takes no part.

    ``sources`` is the lane that each thread of a shuffle reads from (int64, -1 for a thread that
    takes no part).

    ``values`` holds, if values are recorded, what each thread loads or receives; for a store or an
    atomic, it is the content of the element after all blocks that run together have made it. It has
    the array's dtype and the shape (threads,) or (threads, width), with 0 for a thread that takes
    no part. It is None for a barrier, and for a store of several elements.
    """

    line: int
    file: str  # its short name
    operation: int
    kind: str
    array: str
    width: int
    first: np.ndarray
    values: np.ndarray | None = None
    sources: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Recording:
    """The instructions of one block, in order.

    All warps of the block advance together, one operation at a time; a device guarantees that order
    only where barriers enforce it. ``block`` holds the block's coordinates (x, y, z), ``shape`` its
    extent, and ``left_out`` the number of events beyond the limit. ``arrays`` are those that the
    events access.
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
class RecordingRequest:
    """A request to record the events of one block.

    ``block`` is the number of the block in the grid, in which x is fastest. ``values`` is True if
    the values that threads load and store are recorded, too. Of more than ``most_events`` events,
    only the first are kept.
    """

    block: int
    values: bool
    most_events: int


def recording_request(
    geometry: Geometry, block, values: bool, most_events: int
) -> RecordingRequest:
    """Return the RecordingRequest for the block with these coordinates.

    ``block`` is an int or a tuple of up to three ints (x, y, z); missing ones are 0. ``values`` and
    ``most_events`` become the fields of the result. Raises LaunchError for a block that the grid
    does not have.
    """
    coordinates = block if isinstance(block, tuple | list) else (block,)
    whole = all(isinstance(b, int | np.integer) for b in coordinates) and 1 <= len(coordinates) <= 3
    position = (*coordinates, 0, 0)[:3]
    if not whole or any(not 0 <= b < size for b, size in zip(position, geometry.grid, strict=True)):
        raise LaunchError(
            f"record={block!r}; it must be the coordinates of a block of the grid {geometry.grid}."
        )
    x, y, _ = geometry.grid
    number = position[0] + x * (position[1] + y * position[2])
    return RecordingRequest(int(number), values, most_events)


class Recorder:
    """Records the events of the requested block."""

    def __init__(self, geometry: Geometry, request: RecordingRequest):
        self._geometry = geometry
        self.request = request
        self.forget()

    def forget(self) -> None:
        """Discard all recorded events, because the launch begins or starts again."""
        self._start = 0  # the block's first lane in the batch
        self._row: int | None = None  # the block's number in the batch; None: in another one
        self._blocks = 1  # of the batch
        self._events: list[Event] = []
        self._left_out = 0
        self._operations: dict[tuple, int] = {}
        self._arrays: dict[Memory, str] = {}
        self._pending_store: tuple | None = None  # a store whose data has not been written yet

    def begin(self, batch: Batch) -> None:
        """Note where the requested block is in this batch, which is about to run.

        The values of the last store of the previous batch are read first.
        """
        self._read_back()
        row = self.request.block - batch.first
        self._row = row if 0 <= row < batch.blocks else None
        self._start, self._blocks = row * batch.width, batch.blocks

    def access(self, transfer: LaneTransfer) -> None:
        """Record a load, store or atomic of the requested block; called before its data moves.

        Nothing is recorded if no thread of the block takes part, or of records whose fields are not
        aligned. Beyond the limit of events, the access is only counted.
        """
        self._read_back()
        part = self._part(transfer.mask)
        if part is None or transfer.memory.is_bytewise or self._is_full():
            return
        threads, chosen = part
        memory, addresses = transfer.memory, transfer.addresses
        elements = addresses[chosen] if isinstance(addresses, np.ndarray) else addresses
        elements = np.broadcast_to(elements, threads.shape)
        shared = memory.space == "shared"
        base = self._row * (memory.data.size // self._blocks) if shared else 0
        first = self._per_thread(threads, elements - base, -1)
        fields = (self._name(memory), transfer.width, first)
        values = self._values(transfer, threads, elements) if self.request.values else None
        self._events.append(Event(*self._location(transfer.site, transfer.kind), *fields, values))

    def meeting(self, kind: str, mask: Mask, site: Site, values=None, sources=None) -> None:
        """Record a barrier, fence, syncwarp, shuffle, vote, match or mma of the requested block.

        ``kind`` is that of the Event. ``values``, which the lanes receive, and ``sources``, the
        lanes that they read from, are None or have one entry per lane of the batch. Nothing is
        recorded if no thread of the block takes part. Beyond the limit of events, the event is only
        counted.
        """
        self._read_back()
        part = self._part(mask)
        if part is None or self._is_full():
            return
        threads, _ = part
        first = self._per_thread(threads, np.zeros(threads.shape, np.int64), -1)
        lanes = self._start + threads
        if values is not None:
            values = self._per_thread(threads, values[lanes], 0) if self.request.values else None
        if sources is not None:
            sources = self._per_thread(threads, sources[lanes], -1)
        self._events.append(Event(*self._location(site, kind), "", 0, first, values, sources))

    def recording(self, names: Mapping[str, str], arguments: Mapping[str, object]) -> Recording:
        """Return the Recording of all events.

        ``names`` maps each file to its short name. ``arguments`` maps each parameter of the kernel
        to its argument, from which an array in global memory gets its shape and strides.
        """
        self._read_back()
        x, y, _ = self._geometry.grid
        number = self.request.block
        return Recording(
            (number % x, number // x % y, number // (x * y)),
            self._geometry.block,
            tuple(_recorded_array(m, name, arguments) for m, name in self._arrays.items()),
            tuple(replace(event, file=names[event.file]) for event in self._events),
            self._left_out,
        )

    def _part(self, mask: Mask) -> tuple[np.ndarray, slice] | None:
        """Return the recorded block's active threads, and their slice of ``mask.index``.

        The threads are an int64 array of their numbers within the block, in ascending order.
        Returns None if the block is not in this batch or none of its threads is active.
        """
        if self._row is None:
            return None
        index = mask.index
        stop = self._start + self._geometry.lanes_per_block
        first, last = np.searchsorted(index, (self._start, stop))
        return (index[first:last] - self._start, slice(first, last)) if first < last else None

    def _is_full(self) -> bool:
        """Return True, and count one more event as left out, if the limit of events is reached."""
        full = len(self._events) >= self.request.most_events
        self._left_out += full
        return full

    def _per_thread(self, threads: np.ndarray, entries: np.ndarray, absent) -> np.ndarray:
        """Return the entries of some threads as an array with one entry per thread of the block.

        Other threads have the entry ``absent``.
        """
        size = (self._geometry.threads, *np.shape(entries)[1:])
        result = np.full(size, absent, entries.dtype)
        result[threads] = entries
        return result

    def _location(self, site: Site, kind: str) -> tuple[int, str, int, str]:
        """Return the tuple (line, path of the file, operation number, kind) of an instruction.

        The operation number counts from 0 the different operations in the order in which the block
        first executed them. Two operations differ in file, line, column or kind.
        """
        key = (site.file, site.line, site.column, kind)
        number = self._operations.setdefault(key, len(self._operations))
        return site.line, site.file, number, kind

    def _name(self, memory: Memory) -> str:
        """Return a unique name of an array; the second of two equal names becomes ``tile (2)``."""
        if memory not in self._arrays:
            taken, name, number = set(self._arrays.values()), memory.name, 1
            while name in taken:
                number += 1
                name = f"{memory.name} ({number})"
            self._arrays[memory] = name
        return self._arrays[memory]

    def _values(
        self, transfer: LaneTransfer, threads: np.ndarray, elements: np.ndarray
    ) -> np.ndarray | None:
        """Return an array of one entry per thread: the values of a load, store or atomic.

        For a load they are the values that it reads; several elements per thread give the array the
        shape (threads, width). For a store or atomic the array holds zeros at first, and
        ``_read_back`` fills in the stored values. Returns None for a store of several elements per
        thread.
        """
        memory, width = transfer.memory, transfer.width
        if transfer.kind == "load":
            if width > 1:
                elements = elements[:, None] + np.arange(width)
            return self._per_thread(threads, memory.data[elements], 0)
        if width > 1:  # an asynchronous copy moves its data later
            return None
        values = self._per_thread(threads, np.zeros(threads.shape, memory.data.dtype), 0)
        self._pending_store = (memory, threads, elements, values)
        return values

    def _read_back(self) -> None:
        """Copy the values of the pending store or atomic, whose data is written by now.

        They go into the array that ``_values`` returned for its event.
        """
        if self._pending_store is not None:
            memory, threads, elements, values = self._pending_store
            values[threads] = memory.data[elements]
            self._pending_store = None


def _recorded_array(memory: Memory, name: str, arguments: Mapping[str, object]) -> RecordedArray:
    """Return the RecordedArray of a memory, with this name.

    ``arguments`` maps parameter names to arguments. An array in global memory has the shape and the
    strides of the argument with its name. Other memory has its declared shape, in C order.
    """
    argument, itemsize = arguments.get(name), memory.data.dtype.itemsize
    if memory.space == "global" and hasattr(argument, "shape"):
        strides = tuple(s // itemsize for s in argument.strides)
        return RecordedArray(name, memory.space, tuple(argument.shape), strides, itemsize)
    shape = memory.part.shape if memory.part else (memory.data.size,)
    strides = tuple(int(np.prod(shape[axis + 1 :])) for axis in range(len(shape)))
    return RecordedArray(name, memory.space, shape, strides, itemsize)
