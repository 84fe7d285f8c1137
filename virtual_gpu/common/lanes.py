"""Threads as lanes: a batch of blocks whose threads all advance together.

A scalar of the kernel is a NumPy vector with one entry per lane, or one NumPy scalar while it is
the same in every thread. Blocks are padded to whole warps, so that ``vector.reshape(-1, 32)`` has
one row per warp; padding lanes are never active.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from .errors import Thread

WARP = 32


class Mask:
    """Which lanes take part. Immutable; its derived forms are computed once."""

    __slots__ = ("_index", "count", "lanes")

    def __init__(self, lanes: np.ndarray, count: int | None = None):
        self.lanes = lanes
        self.count = int(np.count_nonzero(lanes)) if count is None else count
        self._index = None

    @property
    def full(self) -> bool:
        return self.count == self.lanes.size

    @property
    def index(self) -> np.ndarray:
        """The numbers of the active lanes."""
        if self._index is None:
            self._index = np.flatnonzero(self.lanes)
        return self._index

    def narrow(self, condition: np.ndarray) -> Mask | None:
        """The lanes of this mask for which ``condition`` holds; None when there are none."""
        return self._like(self.lanes & condition)

    def without(self, other: Mask | None) -> Mask | None:
        """The lanes of this mask that are not in ``other``."""
        if other is None:
            return self
        return self._like(self.lanes & ~other.lanes)

    def _like(self, lanes: np.ndarray) -> Mask | None:
        count = int(np.count_nonzero(lanes))
        if count == 0:
            return None
        return self if count == self.count else Mask(lanes, count)

    def keep(self, chosen: np.ndarray) -> Mask:
        """The active lanes for which ``chosen``, one entry per active lane, holds."""
        lanes = np.zeros(self.lanes.size, bool)
        lanes[self.index[chosen]] = True
        return Mask(lanes)

    def select(self, value):
        """The entries of a vector that belong to active lanes; scalars stay scalars."""
        if isinstance(value, np.ndarray) and not self.full:
            return value[self.index]
        return value

    def entries(self, value) -> np.ndarray:
        """One entry per active lane, of a vector of lanes or of a number."""
        chosen = self.select(value)
        return chosen if isinstance(chosen, np.ndarray) else np.full(self.count, chosen)

    def spread(self, values: np.ndarray) -> np.ndarray:
        """One value per active lane as a vector of all lanes; the others hold zero."""
        if self.full:
            return values
        result = np.zeros(self.lanes.size, values.dtype)
        result[self.index] = values
        return result


def union(first: Mask | None, second: Mask | None) -> Mask | None:
    """The lanes of either mask."""
    if first is None or first is second:
        return second
    if second is None:
        return first
    return Mask(first.lanes | second.lanes)


@dataclass(frozen=True)
class Geometry:
    """The grid and block of a launch, each padded to three dimensions."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def lanes_per_block(self) -> int:
        return -(-self.threads // WARP) * WARP


class Recent:
    """The last few vectors that were computed from a vector, another or a mask, and a number, found
    by the identity of those.

    Vectors of lanes and masks are never changed in place, so the result is the same again.
    """

    def __init__(self, most: int = 24):
        self._most = most
        self._known: dict[tuple, tuple] = {}

    def find(
        self, vector: np.ndarray, other: Mask | np.ndarray, number: int = 0
    ) -> np.ndarray | None:
        """What was kept for these; None where nothing is."""
        known = self._known.get((id(vector), id(other), number))
        return known[0] if known else None

    def keep(
        self, result: np.ndarray, vector: np.ndarray, other: Mask | np.ndarray, number: int = 0
    ) -> None:
        """What it is computed from is kept, too, so that the ids stay theirs."""
        if len(self._known) >= self._most:
            self._known.clear()
        self._known[id(vector), id(other), number] = (result, vector, other)


class Batch:
    """``blocks`` consecutive blocks of a launch, from block number ``first`` on."""

    def __init__(self, geometry: Geometry, first: int, blocks: int):
        self.geometry = geometry
        self.first = first
        self.blocks = blocks
        self.width = geometry.lanes_per_block
        self.size = blocks * self.width
        self._part_starts: dict[int, np.ndarray] = {}

    def part_starts(self, part: int) -> np.ndarray:
        """For each lane the first element of its block's part of shared memory, int64."""
        if part not in self._part_starts:
            self._part_starts[part] = self.block_row * part
        return self._part_starts[part]

    @functools.cached_property
    def thread_number(self) -> np.ndarray:
        """Each lane's number within its block, int64."""
        return np.tile(np.arange(self.width), self.blocks)

    @functools.cached_property
    def block_row(self) -> np.ndarray:
        """Each lane's block, counted from the batch's first, int64."""
        return np.repeat(np.arange(self.blocks), self.width)

    @functools.cached_property
    def everyone(self) -> Mask:
        """All real threads; padding lanes are left out."""
        if self.width == self.geometry.threads:
            return Mask(np.ones(self.size, bool), self.size)
        return Mask(self.thread_number < self.geometry.threads)

    @functools.cached_property
    def thread_index(self) -> tuple:
        """``cuda.threadIdx`` as (x, y, z), int32; a scalar where the block is one thread wide."""
        return self._coordinates(self.thread_number, self.geometry.block)

    @functools.cached_property
    def block_index(self) -> tuple:
        """``cuda.blockIdx`` as (x, y, z), int32; a scalar where it is the same in all lanes."""
        numbers = self.first + (np.int64(0) if self.blocks == 1 else self.block_row)
        return self._coordinates(numbers, self.geometry.grid)

    @staticmethod
    def _coordinates(numbers, extent: tuple[int, int, int]) -> tuple:
        x, y, _ = extent
        parts = (numbers % x, numbers // x % y, numbers // (x * y))
        return tuple(
            np.int32(0) if size == 1 else part.astype(np.int32)
            for part, size in zip(parts, extent, strict=True)
        )

    def thread(self, lane: int) -> Thread:
        """The thread in this lane, by its coordinates."""
        return thread_by_number(
            self.geometry, (self.first + lane // self.width) * self.width + lane % self.width
        )

    @functools.cached_property
    def numbers(self) -> np.ndarray:
        """Each lane's number in the whole launch (blocks padded to whole warps), int64."""
        return self.first * self.width + np.arange(self.size)


def thread_by_number(geometry: Geometry, number: int) -> Thread:
    """The thread with this launch-wide number."""
    block, thread = divmod(int(number), geometry.lanes_per_block)
    ranks = (_rank(geometry.grid), _rank(geometry.block))
    return Thread(_unravel(block, geometry.grid), _unravel(thread, geometry.block), ranks)


def _rank(extent: tuple[int, int, int]) -> int:
    return max((axis + 1 for axis, size in enumerate(extent) if size > 1), default=1)


def _unravel(number: int, extent: tuple[int, int, int]) -> tuple[int, int, int]:
    x, y, _ = extent
    return (number % x, number // x % y, number // (x * y))
