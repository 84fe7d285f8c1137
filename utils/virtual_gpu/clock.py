"""When things happen on the virtual GPU: accesses are numbered, barriers and fences are noted.

A *stamp* packs who made an access (the thread's number in the launch) and when (the number of the
access, counted over the batch), so that one comparison tells whether a barrier lies between two.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .errors import Site, Thread
from .lanes import Batch, Mask
from .report import Report

TIME_BITS = 26
TIME_MASK = (1 << TIME_BITS) - 1
NEVER = -1


class Releases:
    """What orders two blocks of one launch: a fence and an atomic in one, an atomic in the other.

    A block releases all it did before its last fence as soon as it makes an atomic; a block
    acquires all that is released when it makes an atomic. That is coarser than the memory model,
    which asks for the same variable: it may miss a race, but it accuses no correct kernel.
    """

    def __init__(self, blocks: int):
        self.fenced = np.full(blocks, NEVER, np.int64)  # time of each block's last fence
        self.released = np.full(blocks, NEVER, np.int64)  # the fence that an atomic has followed
        self.released_at = np.full(blocks, NEVER, np.int64)  # the time of that atomic
        self.acquired_at = np.full(blocks, NEVER, np.int64)  # the time of the last atomic

    def fence(self, blocks: np.ndarray, now: int) -> None:
        self.fenced[blocks] = now

    def atomic(self, blocks: np.ndarray, now: int) -> None:
        self.acquired_at[blocks] = now
        fresh = blocks[self.fenced[blocks] > self.released[blocks]]
        self.released[fresh] = self.fenced[fresh]
        self.released_at[fresh] = now

    def order(self, writer: np.ndarray, when: np.ndarray, reader: np.ndarray, first: int):
        """Whether what block ``writer`` did at time ``when`` is ordered before block ``reader``.

        Blocks before ``first`` ran in an earlier batch, so all that they released is acquired.
        """
        published = when < self.released[writer]
        seen = np.where(writer < first, 0, self.released_at[writer]) <= self.acquired_at[reader]
        return published & seen & (self.acquired_at[reader] != NEVER)

    def may_have_acquired(self, reader: np.ndarray):
        """Whether a block made an atomic after another block released something."""
        others = np.count_nonzero(self.released != NEVER) - (self.released[reader] != NEVER)
        return (self.acquired_at[reader] != NEVER) & (others > 0)


class Clock:
    """Numbers the accesses of a batch, and remembers when each thread last passed a barrier."""

    def __init__(self, batch: Batch, report: Report, releases: Releases):
        self.batch = batch
        self.report = report
        self.releases = releases
        self.who = batch.numbers << TIME_BITS
        self.sites: list[Site] = []
        self.last_barrier: int | np.ndarray = 0  # a vector once blocks pass different barriers
        self.last_warp_sync = np.full(batch.size, NEVER, np.int64)
        self.last_grid_barrier = NEVER

    def barrier_of(self, stamps: np.ndarray) -> int | np.ndarray:
        """When the threads of these stamps last passed a barrier."""
        if isinstance(self.last_barrier, int):
            return self.last_barrier
        return self.last_barrier[(stamps >> TIME_BITS) - self.batch.numbers[0]]

    def tick(self, site: Site) -> int:
        """The time of a new access made by this line."""
        self.sites.append(site)
        if len(self.sites) > TIME_MASK:
            raise OverflowError("more accesses than a batch can number")
        return len(self.sites) - 1

    def barrier(self, mask: Mask, everyone: bool) -> None:
        """The lanes of ``mask`` have met at a barrier: what came before is ordered."""
        now = len(self.sites)
        if everyone:
            self.last_barrier = now
        else:
            self.last_barrier = np.where(mask.lanes, now, self.last_barrier)

    def grid_barrier(self) -> None:
        """All blocks have met."""
        self.last_barrier = self.last_grid_barrier = len(self.sites)

    def warp_sync(self, mask: Mask) -> None:
        """The active lanes of each warp have met: their earlier accesses are ordered."""
        self.last_warp_sync[mask.index] = len(self.sites)

    def fence(self, mask: Mask) -> None:
        """What the blocks of these lanes did so far may be published."""
        self.releases.fence(self._blocks(mask), len(self.sites))

    def atomic(self, mask: Mask, time: int) -> None:
        """These lanes made an atomic in global memory at this time."""
        self.releases.atomic(self._blocks(mask), time)

    def _blocks(self, mask: Mask) -> np.ndarray:
        return self.batch.first + np.unique(mask.index // self.batch.width)


@dataclass(frozen=True)
class Access:
    """One execution of a load or store: who does it, where in the source, and which elements."""

    clock: Clock
    site: Site
    verb: str  # "reads", "writes" or "updates"
    mask: Mask  # the lanes that take part
    addresses: np.ndarray  # int64, one per active lane
    time: int
    locate: Callable[[int], tuple[int, ...]]  # from position among active lanes to array index

    @functools.cached_property
    def stamps(self) -> np.ndarray:
        """Who and when, packed, one per active lane."""
        return self.mask.select(self.clock.who) | self.time

    @property
    def last_barrier(self) -> int | np.ndarray:
        return self.mask.select(self.clock.last_barrier)

    def thread(self, at: int) -> Thread:
        """The thread at this position among the active lanes."""
        return self.clock.batch.thread(int(self.mask.index[at]))
