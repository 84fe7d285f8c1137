"""Memory that a plan needs besides its arrays: one block for each device and stream.

A block grows and never shrinks, so that repeated calls allocate nothing. Kernels on one stream run
one after the other, so all plans share its block. A captured graph may run at any time and beside
anything, so its memory is its own: the graph allocates and frees it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import cuda

from utils.launching import driver
from utils.launching.slots import Slot

# What lies at the beginning of a block and is zero before each launch: counters.
ZERO_BYTES = 256
# Parts begin at multiples of this, as allocations do.
UNIT_BYTES = 256
# What needs more than this gets it for the one call.
MOST_BYTES = 1 << 30
# A program that makes a new stream for each call must not keep a block for each.
MOST_BLOCKS = 32


class Layout:
    """The workspace of one plan: what its calls are told to allocate, side by side in one block."""

    def __init__(self, first: int) -> None:
        """first: the number of the first slot."""
        self.slots: list[Slot] = []
        self.offsets: list[int] = []
        self.zeroed: list[bool] = []
        self._first, self._zeros, self._end = first, 0, ZERO_BYTES

    @property
    def nbytes(self) -> int:
        """How large a block must be; 0 where nothing is needed."""
        return self._end if self.slots else 0

    def allocate(self, size: int | tuple[int, ...], dtype, fill: int | None = None) -> Slot:
        """Room for an array. fill: None, or 0 for what each launch finds zero and leaves zero."""
        shape = size if isinstance(size, tuple) else (size,)
        slot = Slot.new(self._first + len(self.slots), shape, dtype)
        nbytes = slot.size * slot.dtype.itemsize
        if fill is None:
            self.offsets.append(self._end)
            self._end += -(-nbytes // UNIT_BYTES) * UNIT_BYTES
        else:
            self.offsets.append(self._zeros)
            self._zeros += -(-nbytes // 8) * 8
            assert fill == 0, "no other number is prepared"
            assert self._zeros <= ZERO_BYTES, "there is no room for so many counters"
        self.zeroed.append(fill is not None)
        self.slots.append(slot)
        return slot


@dataclass(frozen=True)
class Block:
    """Device memory. owner: keeps it."""

    pointer: int
    nbytes: int
    owner: object


def on_current_device(nbytes: int) -> Block:
    """New memory."""
    with driver.outside_captures():
        owner = cuda.device_array(nbytes, np.uint8)
    return Block(owner.gpu_data.device_ctypes_pointer.value, nbytes, owner)


class Pool:
    """The blocks of this process. Whoever uses it holds the lock of the launches."""

    def __init__(self, allocate=on_current_device, most_bytes=MOST_BYTES, most_blocks=MOST_BLOCKS):
        self._allocate, self._most_bytes, self._most_blocks = allocate, most_bytes, most_blocks
        # For each (device, stream) all its blocks: work may be under way in those outgrown.
        self._blocks: dict[tuple[int, int], list[Block]] = {}

    def block(self, device: int, stream: int, nbytes: int) -> int | None:
        """Where the block of that stream lies; None where memory must be lent for the one call."""
        if nbytes > self._most_bytes:
            return None
        # The default stream is always the same, and is never captured.
        if stream:
            if driver.is_capturing(stream):
                return None
            stream_id = driver.stream_id(stream)
        else:
            stream_id = 0
        key = device, stream_id
        blocks = self._blocks.get(key)
        if blocks and blocks[-1].nbytes >= nbytes:
            return blocks[-1].pointer
        grown = self._grown(key, nbytes)
        driver.zero(grown.pointer, ZERO_BYTES, stream)
        return grown.pointer

    @property
    def nbytes(self) -> int:
        """All that it holds."""
        return sum(block.nbytes for blocks in self._blocks.values() for block in blocks)

    def _grown(self, key: tuple[int, int], nbytes: int) -> Block:
        of_device = [other for other in self._blocks if other[0] == key[0]]
        if key not in self._blocks and len(of_device) >= self._most_blocks:
            driver.synchronize_device()
            for other in of_device:
                del self._blocks[other]
        blocks = self._blocks.get(key, [])
        # Twice as large each time, so that a stream has less than three times what it may have.
        doubled = 2 * blocks[-1].nbytes if blocks else 0
        new = self._allocate(min(max(nbytes, doubled), self._most_bytes))
        self._blocks[key] = [*blocks, new]
        return new


POOL = Pool()
