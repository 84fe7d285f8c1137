"""The order that fences and atomics create between two threads that no barrier orders.

A thread releases its accesses before a fence with an atomic after that fence; another thread
acquires them with a later atomic. A barrier passes both on within a block: a thread also releases
what its block did before the barrier, and after a barrier each thread has acquired what any thread
of its block had acquired.

This is coarser than the memory model, which requires atomics on the same variable and considers
each thread, while the threads of a warp count as one here. The detector may therefore miss a race,
but it accuses no correct kernel.
"""

from __future__ import annotations

import numpy as np

from ..common.lanes import WARP, Geometry

NEVER = -1
_ALWAYS = np.iinfo(np.int64).max


class _ReleaseTimes:
    """The latest two releases of each warp, or of each block.

    A release covers all accesses before the time ``until`` and takes effect at the time ``since``.
    The caller sets ``fenced``, the time of each warp's or block's latest fence, which is NEVER at
    first.
    """

    def __init__(self, count: int):
        self.fenced = np.full(count, NEVER, np.int64)
        self._until = np.full(count, NEVER, np.int64)
        self._since = np.full(count, NEVER, np.int64)
        self._until_before = np.full(count, NEVER, np.int64)  # of the previous release
        self._since_before = np.full(count, NEVER, np.int64)

    def release(self, groups: np.ndarray, until: np.ndarray, time: int) -> np.ndarray:
        """Record an atomic of the warps or blocks ``groups`` at the time ``time``.

        The atomic releases each group's accesses before its entry of ``until``. Only groups whose
        ``until`` is later than that of their previous release get a new release; their numbers are
        returned.
        """
        fresh = until > self._until[groups]
        now = groups[fresh]
        self._until_before[now], self._since_before[now] = self._until[now], self._since[now]
        self._until[now], self._since[now] = until[fresh], time
        return now

    def covers(self, groups: np.ndarray, when: np.ndarray, acquired: np.ndarray) -> np.ndarray:
        """Return a bool per access: True if a release covers it and took effect by ``acquired``.

        The accesses were made by the warps or blocks ``groups`` at the times ``when``. ``acquired``
        holds one time per access. The latest two releases of a group are considered.
        """
        last = (when < self._until[groups]) & (self._since[groups] <= acquired)
        before = (when < self._until_before[groups]) & (self._since_before[groups] <= acquired)
        return last | before


class Releases:
    """The fences and atomics of one launch. Threads are identified by their launch-wide numbers.

    ``begun`` is False before the first fence, when the tables are not allocated yet. Atomics before
    it are not recorded.
    """

    def __init__(self, geometry: Geometry):
        self._geometry = geometry
        self.begun = False  # nothing is released or acquired before the first fence

    def _begin(self) -> None:
        """Allocate the tables of releases and acquired times, and set ``begun``."""
        blocks = self._geometry.blocks
        warps = blocks * self._geometry.lanes_per_block // WARP
        self._to_block, self._to_grid = _ReleaseTimes(warps), _ReleaseTimes(warps)
        self._at_barrier = _ReleaseTimes(blocks)  # what barriers pass on to a later release
        self._first = np.full(blocks, _ALWAYS, np.int64)  # a block's first release to itself
        self._has_released = np.zeros(blocks, bool)  # to the grid
        self._acquired = np.full(warps, NEVER, np.int64)  # each warp's last atomic
        self._acquired_by_one = np.full(blocks, NEVER, np.int64)  # each block's last atomic,
        self._acquired_by_all = np.full(blocks, NEVER, np.int64)  # and the last before a barrier
        self.begun = True

    def fence(self, threads: np.ndarray, now: int, whole_grid: bool) -> None:
        """Record a fence by the threads with these numbers at the time ``now``.

        The fence holds for the whole grid if ``whole_grid`` is True, otherwise for each thread's
        block only.
        """
        if not self.begun:
            self._begin()
        warps = np.unique(threads // WARP)
        self._to_block.fenced[warps] = now
        if whole_grid:
            self._to_grid.fenced[warps] = now
            self._at_barrier.fenced[self._block(warps * WARP)] = now

    def atomic(self, threads: np.ndarray, time: int, barriers: np.ndarray) -> None:
        """Record an atomic by the threads with these numbers, after at least one fence.

        ``barriers`` holds the time at which each thread last passed a barrier.
        """
        warps, at = np.unique(threads // WARP, return_index=True)
        blocks, barriers = self._block(warps * WARP), barriers[at]
        released = self._to_block.release(warps, self._to_block.fenced[warps], time)
        mine = self._block(released * WARP)
        self._first[mine] = np.minimum(self._first[mine], time)
        released = self._to_grid.release(warps, self._to_grid.fenced[warps], time)
        self._has_released[self._block(released * WARP)] = True
        handed = np.minimum(self._at_barrier.fenced[blocks], barriers)
        self._at_barrier.release(blocks, handed, time)
        self._acquired_by_all[blocks] = self._acquired_before(blocks, barriers)
        self._acquired_by_one[blocks] = self._acquired[warps] = time

    def order_blocks(self, who, when, me, barriers, first: int) -> np.ndarray:
        """Return a bool per pair of accesses: True if fences and atomics order the two of them.

        The earlier access was made by thread ``who`` at time ``when``, the later one by thread
        ``me`` of another block. These are arrays with one entry per pair, and ``barriers`` holds
        the time at which each of ``me`` last passed a barrier. Threads before ``first`` ran in an
        earlier batch, so all that they released is acquired. Among simultaneous atomics, that of
        the lower thread comes first.
        """
        if not self.begun:
            return np.zeros(len(who), bool)
        acquired = self._acquired_from_blocks(me, barriers)
        acquired[who > me] -= acquired[who > me] != NEVER
        acquired[(who < first) & (acquired != NEVER)] = _ALWAYS
        by_itself = self._to_grid.covers(who // WARP, when, acquired)
        return by_itself | self._at_barrier.covers(self._block(who), when, acquired)

    def order_threads(self, who, when, me) -> np.ndarray:
        """Return a bool per pair of accesses: True if fences and atomics order the two of them.

        The earlier access was made by thread ``who`` at time ``when``, the later one by thread
        ``me`` of the same block. These are arrays with one entry per pair. Among simultaneous
        atomics, that of the lower thread comes first.
        """
        if not self.begun:
            return np.zeros(len(who), bool)
        acquired = self._acquired[me // WARP] - (who > me)
        return self._to_block.covers(who // WARP, when, acquired)

    def may_follow_blocks(self, me, barriers) -> np.ndarray:
        """Return a bool per thread: True if it may have acquired what another block released.

        That is so if the thread ``me`` has acquired anything by an atomic, and another block has
        made a release to the grid.
        """
        if not self.begun:
            return np.zeros(len(me), bool)
        acquired = self._acquired_from_blocks(me, barriers) != NEVER
        others = np.count_nonzero(self._has_released) - self._has_released[self._block(me)]
        return acquired & (others > 0)

    def may_follow_threads(self, me) -> np.ndarray:
        """Return a bool per thread: True if its warp may have acquired what its block released.

        That is so if the latest atomic of the warp of ``me`` is not before the block's first
        release.
        """
        if not self.begun:
            return np.zeros(len(me), bool)
        return self._first[self._block(me)] <= self._acquired[me // WARP]

    def _acquired_from_blocks(self, me, barriers) -> np.ndarray:
        """Return, per thread ``me``, the time until which it has acquired from other blocks.

        The time is NEVER if the thread has acquired nothing.
        """
        handed = self._acquired_before(self._block(me), barriers)
        return np.maximum(self._acquired[me // WARP], handed)

    def _acquired_before(self, blocks, barriers) -> np.ndarray:
        """Return the time of each block's latest atomic before its latest barrier, or NEVER.

        ``barriers`` holds the time of that barrier, one entry per entry of ``blocks``.
        """
        last = self._acquired_by_one[blocks]
        return np.where(barriers > last, last, self._acquired_by_all[blocks])

    def _block(self, threads: np.ndarray) -> np.ndarray:
        """Return the number of the block of each launch-wide thread number."""
        return threads // self._geometry.lanes_per_block
