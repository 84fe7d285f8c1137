"""Threads as lanes: a batch of blocks whose threads all advance together.

A scalar variable of the kernel is a NumPy vector with one entry per lane, or a NumPy scalar while
it is the same in every thread. Blocks are padded to whole warps, so that ``vector.reshape(-1, 32)``
has one row per warp. Padding lanes are never active.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from virtual_gpu.common.division import cdiv

from .errors import Thread

WARP = 32
_LANE_BITS = np.uint64(1) << np.arange(WARP, dtype=np.uint64)


class Mask:
    """The set of active lanes of a batch: immutable, with derived forms that are computed once.

    ``lanes`` is a bool vector with one entry per lane, ``count`` the number of active lanes.
    """

    __slots__ = ("_alike", "_index", "count", "lanes")

    def __init__(self, lanes: np.ndarray, count: int | None = None):
        self.lanes = lanes
        self.count = int(np.count_nonzero(lanes)) if count is None else count
        self._index = None
        self._alike = None

    @property
    def full(self) -> bool:
        """True if every lane is active."""
        return self.count == self.lanes.size

    @property
    def index(self) -> np.ndarray:
        """The indices of the active lanes, in ascending order (int64)."""
        if self._index is None:
            self._index = self.lanes.nonzero()[0]
        return self._index

    @property
    def warps(self) -> int:
        """The number of warps with an active lane."""
        return int(np.count_nonzero(by_warp(self.lanes).any(axis=1)))

    def alike(self, blocks: int) -> bool:
        """Return True if the same lanes are active in each of the batch's ``blocks`` blocks."""
        if self._alike is None:
            lanes = self.lanes.reshape(blocks, -1)
            self._alike = self.full or bool((lanes == lanes[0]).all())
        return self._alike

    def narrow(self, condition: np.ndarray) -> Mask | None:
        """Return the mask of the active lanes for which ``condition`` holds; None if none is left.

        The condition has one entry per lane. If it holds for all active lanes, this mask itself is
        returned.
        """
        return self._subset(self.lanes & condition)

    def without(self, other: Mask | None) -> Mask | None:
        """Return the mask of the active lanes that are not in ``other``, or None if there are none.

        With ``other=None`` it is this mask.
        """
        if other is None:
            return self
        return self._subset(self.lanes & ~other.lanes)

    def _subset(self, lanes: np.ndarray) -> Mask | None:
        """Return a mask of these lanes, a subset of the active ones, or None if it is empty.

        It is this mask itself if all active lanes are in the subset.
        """
        count = int(np.count_nonzero(lanes))
        if count == 0:
            return None
        return self if count == self.count else Mask(lanes, count)

    def keep(self, chosen: np.ndarray) -> Mask:
        """Return the mask of the active lanes for which ``chosen`` holds; it may be empty.

        ``chosen`` has one entry per active lane.
        """
        lanes = np.zeros(self.lanes.size, bool)
        lanes[self.index[chosen]] = True
        return Mask(lanes)

    def select(self, value):
        """Return the entries of a lane vector that belong to active lanes; scalars stay scalars.

        If all lanes are active, the vector itself is returned.
        """
        if isinstance(value, np.ndarray) and not self.full:
            return value[self.index]
        return value

    def entries(self, value) -> np.ndarray:
        """Return a vector with one entry per active lane from a lane vector or a number."""
        chosen = self.select(value)
        return chosen if isinstance(chosen, np.ndarray) else np.full(self.count, chosen)

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Return a vector of all lanes from one value per active lane; other lanes hold zero.

        If all lanes are active, ``values`` itself is returned.
        """
        if self.full:
            return values
        result = np.zeros(self.lanes.size, values.dtype)
        result[self.index] = values
        return result


def union(first: Mask | None, second: Mask | None) -> Mask | None:
    """Return the mask of the lanes that are in either mask.

    None means no lanes, in the arguments and as the result.
    """
    if first is None or first is second:
        return second
    if second is None:
        return first
    return Mask(first.lanes | second.lanes)


def by_warp(lanes: np.ndarray) -> np.ndarray:
    """Return a vector of lanes as an array of shape (warps, 32)."""
    return lanes.reshape(-1, WARP)


def bits_of(lanes: np.ndarray) -> np.ndarray:
    """Return the bit mask of each warp's lanes as one uint32 per row of ``lanes``.

    ``lanes`` is a boolean array of shape (warps, 32); its column i becomes bit i.
    """
    return (lanes * _LANE_BITS).sum(axis=1).astype(np.uint32)


def lanes_of(bits) -> np.ndarray:
    """Return True per lane whose bit is 1 in ``bits``, an integer or an array of integers.

    An integer gives the shape (32,). Otherwise the last axis is that of the lanes: it has the
    extent 32, with a mask per lane, or 1.
    """
    return (bits >> np.arange(WARP)) & 1 == 1


def listed(lanes: np.ndarray) -> str:
    """Return text such as ``lane 3``, ``lanes 16 to 31`` or ``lanes 1, 3, 5``.

    ``lanes`` holds 32 bools, and at least one is True.
    """
    numbers = np.flatnonzero(lanes).tolist()
    first, last = numbers[0], numbers[-1]
    if len(numbers) > 2 and last - first + 1 == len(numbers):
        return f"lanes {first} to {last}"
    return f"lane{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


@dataclass(frozen=True)
class Geometry:
    """The grid and block of a launch, each padded with ones to three dimensions."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]

    @property
    def blocks(self) -> int:
        """The number of blocks in the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads(self) -> int:
        """The number of threads in a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def lanes_per_block(self) -> int:
        """The number of threads in a block, padded to whole warps."""
        return cdiv(self.threads, WARP) * WARP


class VectorCache:
    """A small cache of vectors, looked up by the identity of the operands they were computed from.

    The operands are a vector, a second vector or a mask, and a number. Vectors of lanes and masks
    are never changed in place, so a cached result stays valid.
    """

    def __init__(self, capacity: int = 24):
        self._capacity = capacity
        self._entries: dict[tuple, tuple] = {}

    def find(
        self, vector: np.ndarray, other: Mask | np.ndarray, number: int = 0
    ) -> np.ndarray | None:
        """Return the cached vector for these operands, or None if there is none.

        ``number`` is a third operand, such as a stride.
        """
        entry = self._entries.get((id(vector), id(other), number))
        return entry[0] if entry else None

    def keep(
        self, result: np.ndarray, vector: np.ndarray, other: Mask | np.ndarray, number: int = 0
    ) -> None:
        """Cache the vector ``result`` for its operands, as ``find`` takes them.

        The operands are kept alive, so that their ids are not reused. If the cache is full, all
        other entries are removed.
        """
        if len(self._entries) >= self._capacity:
            self._entries.clear()
        self._entries[id(vector), id(other), number] = (result, vector, other)


class Batch:
    """``blocks`` consecutive blocks of a launch, beginning with block number ``first``.

    ``width`` is the number of lanes per block, ``size`` the number of lanes in the batch.
    ``geometry`` is that of the launch.
    """

    def __init__(self, geometry: Geometry, first: int, blocks: int):
        self.geometry = geometry
        self.first = first
        self.blocks = blocks
        self.width = geometry.lanes_per_block
        self.size = blocks * self.width
        self._part_starts: dict[int, np.ndarray] = {}

    def part_starts(self, part_size: int) -> np.ndarray:
        """Return, per lane, the index of the first element of its block's part of shared memory.

        A block's part has ``part_size`` elements. The result is int64 and cached.
        """
        if part_size not in self._part_starts:
            self._part_starts[part_size] = self.block_row * part_size
        return self._part_starts[part_size]

    @functools.cached_property
    def thread_number(self) -> np.ndarray:
        """Each lane's thread number within its block (int64)."""
        return np.tile(np.arange(self.width), self.blocks)

    @functools.cached_property
    def block_row(self) -> np.ndarray:
        """Each lane's block number within the batch (int64)."""
        return np.repeat(np.arange(self.blocks), self.width)

    @functools.cached_property
    def everyone(self) -> Mask:
        """The mask of all real threads; padding lanes are left out."""
        if self.width == self.geometry.threads:
            return Mask(np.ones(self.size, bool), self.size)
        return Mask(self.thread_number < self.geometry.threads)

    @functools.cached_property
    def thread_index(self) -> tuple:
        """``cuda.threadIdx`` of each lane as three int32 vectors (x, y, z).

        A component is the scalar 0 if the block's extent in that dimension is 1.
        """
        return self._coordinates(self.thread_number, self.geometry.block)

    @functools.cached_property
    def block_index(self) -> tuple:
        """``cuda.blockIdx`` of each lane as three int32 vectors (x, y, z).

        A component is the scalar 0 if the grid's extent in that dimension is 1, and a scalar if the
        batch has one block.
        """
        numbers = self.first + (np.int64(0) if self.blocks == 1 else self.block_row)
        return self._coordinates(numbers, self.geometry.grid)

    @staticmethod
    def _coordinates(numbers, extent: tuple[int, int, int]) -> tuple:
        """Return the coordinates (x, y, z) of numbers within an extent, as int32.

        A coordinate is the scalar 0 if the extent is 1 in that dimension.
        """
        coordinates = []
        for axis, size in enumerate(extent):
            if size == 1:
                coordinates.append(np.int32(0))
                continue
            is_last = all(further == 1 for further in extent[axis + 1 :])
            coordinates.append((numbers if is_last else numbers % size).astype(np.int32))
            numbers = numbers // size
        return tuple(coordinates)

    def thread(self, lane: int) -> Thread:
        """Return the Thread in the lane with this index in the batch."""
        return thread_by_number(
            self.geometry, (self.first + lane // self.width) * self.width + lane % self.width
        )

    @functools.cached_property
    def numbers(self) -> np.ndarray:
        """Each lane's thread number in the launch, with blocks padded to whole warps (int64)."""
        return self.first * self.width + np.arange(self.size)


def thread_by_number(geometry: Geometry, number: int) -> Thread:
    """Return the Thread with this launch-wide number (see ``Batch.numbers``)."""
    block, thread = divmod(int(number), geometry.lanes_per_block)
    ranks = (_rank(geometry.grid), _rank(geometry.block))
    return Thread(_unravel(block, geometry.grid), _unravel(thread, geometry.block), ranks)


def _rank(extent: tuple[int, int, int]) -> int:
    """Return the number of dimensions of a grid or block, without trailing extents of 1.

    The result is at least 1.
    """
    return max((axis + 1 for axis, size in enumerate(extent) if size > 1), default=1)


def _unravel(number: int, extent: tuple[int, int, int]) -> tuple[int, int, int]:
    """Return the coordinates (x, y, z) of a number that counts x fastest."""
    x, y, _ = extent
    return (number % x, number // x % y, number // (x * y))
