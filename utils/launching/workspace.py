"""Memory that plans need in addition to their arrays: one allocation per device and stream.

An allocation grows and never shrinks, so that repeated calls allocate nothing. Kernels on one
stream run one after the other, so all plans share the stream's allocation. A captured graph may run
at any time and concurrently with other work, so a graph allocates and frees memory of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import cuda

from utils.division import cdiv
from utils.launching import driver
from utils.launching.slots import Slot

# The size of the counters at the beginning of an allocation, which are zero before each launch.
ZERO_BYTES = 256
# Every part begins at a multiple of this, as the driver's allocations do.
UNIT_BYTES = 256
# A plan that needs more than this gets memory for one call at a time.
MOST_BYTES = 1 << 30
# A program that makes a new stream for each call must not keep an allocation for each of them.
MOST_ALLOCATIONS = 32


class WorkspaceLayout:
    """The arrays that one plan's calls need, packed one after the other into one allocation.

    Three lists have an entry per array, in the order of the calls of `allocate`: `slots`, `offsets`
    in bytes from the begin of the allocation, and `zeroed`, True for an array that is zero before
    every launch.
    """

    def __init__(self, first: int) -> None:
        """`first` is the number of the first array's slot; the others count up from it."""
        self.slots: list[Slot] = []
        self.offsets: list[int] = []
        self.zeroed: list[bool] = []
        self._first, self._zeros, self._end = first, 0, ZERO_BYTES
        # The largest end of all rounds; see `reuse`.
        self._most = 0

    @property
    def nbytes(self) -> int:
        """The size of the workspace in bytes; 0 if the plan needs none."""
        return max(self._most, self._end) if self.slots else 0

    def reuse(self) -> None:
        """Let arrays that are allocated later share memory with those that were allocated before.

        The later arrays may be used only by calls that run after all calls which use the earlier
        ones. Arrays with a fill of 0 are never shared.
        """
        self._most, self._end = self.nbytes, ZERO_BYTES

    def allocate(self, size: int | tuple[int, ...], dtype, fill: int | None = None) -> Slot:
        """Reserve room for an array in the layout and return its slot; no memory is allocated yet.

        `size` is a number of elements or a shape. `fill` is None, or 0 for an array that is zero
        before every launch and that the launch must leave zero.
        """
        shape = size if isinstance(size, tuple) else (size,)
        slot = Slot.new(self._first + len(self.slots), shape, dtype)
        nbytes = slot.size * slot.dtype.itemsize
        if fill is None:
            self.offsets.append(self._end)
            self._end += cdiv(nbytes, UNIT_BYTES) * UNIT_BYTES
        else:
            self.offsets.append(self._zeros)
            self._zeros += cdiv(nbytes, 8) * 8
            assert fill == 0, "no other number is prepared"
            assert self._zeros <= ZERO_BYTES, "there is no room for so many counters"
        self.zeroed.append(fill is not None)
        self.slots.append(slot)
        return slot


@dataclass(frozen=True)
class Allocation:
    """Device memory: its address `pointer` and its size `nbytes`.

    It is freed when the object `owner` is.
    """

    pointer: int
    nbytes: int
    owner: object


def on_current_device(nbytes: int) -> Allocation:
    """Allocate `nbytes` bytes on the current device and return the allocation."""
    with driver.outside_captures():
        owner = cuda.device_array(nbytes, np.uint8)
    return Allocation(owner.gpu_data.device_ctypes_pointer.value, nbytes, owner)


class Pool:
    """The workspaces of this process, one per device and stream.

    The caller must hold the launch lock. `allocate` is a function: bytes -> Allocation on the
    current device. A workspace has at most `most_bytes`, and a device at most `most_allocations`
    workspaces.
    """

    def __init__(
        self, allocate=on_current_device, most_bytes=MOST_BYTES, most_allocations=MOST_ALLOCATIONS
    ):
        self._allocate = allocate
        self._most_bytes, self._most_allocations = most_bytes, most_allocations
        # All allocations of each (device, stream): work may still be in flight in outgrown ones.
        self._allocations: dict[tuple[int, int], list[Allocation]] = {}

    def address(self, device: int, stream: int, nbytes: int) -> int | None:
        """Return the address of the stream's workspace of at least `nbytes`, grown if necessary.

        `device` is a number, `stream` a handle. The first `ZERO_BYTES` of a new workspace are zero.
        Returns None if the memory must be allocated for this call alone, because the plan needs too
        much or the stream is being captured.
        """
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
        allocations = self._allocations.get(key)
        if allocations and allocations[-1].nbytes >= nbytes:
            return allocations[-1].pointer
        grown = self._grown(key, nbytes)
        driver.zero(grown.pointer, ZERO_BYTES, stream)
        return grown.pointer

    @property
    def nbytes(self) -> int:
        """The bytes of device memory that the pool holds, outgrown allocations included."""
        return sum(each.nbytes for several in self._allocations.values() for each in several)

    def _grown(self, key: tuple[int, int], nbytes: int) -> Allocation:
        """Return a new allocation of at least `nbytes` for a (device, stream), kept in the pool.

        It has at least twice the bytes of the key's last allocation, but at most `most_bytes`. For
        a new key, all of the device's workspaces are dropped first if it has the most allowed.
        """
        on_device = [other for other in self._allocations if other[0] == key[0]]
        if key not in self._allocations and len(on_device) >= self._most_allocations:
            driver.synchronize_device()
            for other in on_device:
                del self._allocations[other]
        allocations = self._allocations.get(key, [])
        # The size doubles each time, so a stream holds less than three times the limit in total.
        doubled = 2 * allocations[-1].nbytes if allocations else 0
        new = self._allocate(min(max(nbytes, doubled), self._most_bytes))
        self._allocations[key] = [*allocations, new]
        return new


POOL = Pool()
