"""The time of the virtual GPU: accesses are numbered, and barriers and fences are recorded.

A *stamp* packs who made an access (the thread's launch-wide number) and when (the number of the
access within the batch), so that one comparison tells whether a barrier separates two accesses.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..common.errors import Site, Thread
from ..common.lanes import Batch, Mask
from .releases import NEVER, Releases
from .report import Report

TIME_BITS = 26
TIME_MASK = (1 << TIME_BITS) - 1


class Clock:
    """Numbers the accesses of a batch, and records when each thread last passed a barrier.

    A time is the number of accesses that the batch made before it. ``last_barrier``,
    ``last_warp_sync`` and ``last_grid_barrier`` hold the time of the latest barrier of the block,
    of the warp and of the grid. The first is an int if all lanes share it, else a vector of lanes;
    the second is a vector of lanes, and the third an int. ``sites[time]`` is the source line of an
    access, and ``waits[time]`` that of the wait by which it ended, if it is an asynchronous copy.
    ``thread_stamps`` holds the launch-wide thread number of each lane, shifted left by TIME_BITS.
    ``report`` gets the findings, and ``releases`` the fences and atomics of the launch.
    """

    def __init__(self, batch: Batch, report: Report, releases: Releases):
        self.batch = batch
        self.report = report
        self.releases = releases
        self.thread_stamps = batch.numbers << TIME_BITS
        self.sites: list[Site] = []
        self.waits: dict[int, Site] = {}
        self.last_barrier: int | np.ndarray = 0  # a vector after blocks passed different barriers
        self.last_warp_sync = np.full(batch.size, NEVER, np.int64)
        self.last_grid_barrier = NEVER

    def barrier_of(self, stamps: np.ndarray) -> int | np.ndarray:
        """Return the time of the latest barrier that the thread of each stamp has passed.

        The time is the number of accesses in the batch before the barrier, 0 without a barrier. The
        threads must be of this batch. The result is one int if all threads share it, otherwise an
        int64 vector, one per stamp.
        """
        if isinstance(self.last_barrier, int):
            return self.last_barrier
        return self.last_barrier[(stamps >> TIME_BITS) - self.batch.numbers[0]]

    def tick(self, site: Site) -> int:
        """Record a new access by the source line ``site``, and return its time.

        The time is the number of accesses before it in this batch. Raises OverflowError if a stamp
        cannot hold the number of accesses.
        """
        self.sites.append(site)
        if len(self.sites) > TIME_MASK:
            raise OverflowError("more accesses than a batch can number")
        return len(self.sites) - 1

    def barrier(self, mask: Mask, everyone: bool) -> None:
        """Record a block barrier of the lanes in ``mask``, which orders their earlier accesses.

        ``everyone`` is True if the mask holds all live lanes, so that one time suffices for all.
        """
        now = len(self.sites)
        if everyone:
            self.last_barrier = now
        else:
            self.last_barrier = np.where(mask.lanes, now, self.last_barrier)

    def grid_barrier(self) -> None:
        """Record a barrier of the whole grid, which orders all accesses made before it."""
        self.last_barrier = self.last_grid_barrier = len(self.sites)

    def warp_sync(self, mask: Mask) -> None:
        """Record a syncwarp of the lanes in ``mask``.

        It orders the earlier accesses within each warp.
        """
        self.last_warp_sync[mask.index] = len(self.sites)

    def fence(self, mask: Mask, whole_grid: bool) -> None:
        """Record a memory fence of the lanes in ``mask``.

        The fence holds for the whole grid if ``whole_grid`` is True, otherwise for each lane's
        block only.
        """
        self.releases.fence(mask.select(self.batch.numbers), len(self.sites), whole_grid)

    def atomic(self, mask: Mask, time: int) -> None:
        """Record an atomic operation of the lanes in ``mask``, whose access has the time ``time``.

        ``time`` is the result of ``tick``. Before the first fence of the launch this does nothing.
        """
        if not self.releases.begun:
            return
        barriers = np.broadcast_to(self.last_barrier, self.batch.size)
        self.releases.atomic(mask.select(self.batch.numbers), time, mask.select(barriers))


@dataclass(frozen=True)
class Access:
    """One execution of a load, store or atomic, with its lanes, source line and addresses.

    ``verb`` is "reads", "writes" or "updates". ``addresses`` has one address per active lane.
    ``time`` is the number of accesses before this one in its batch. ``locate(position)`` returns
    the array indices of the active lane at this position. ``before_atomic`` is True for a load that
    only decides whether an atomic is tried. ``site`` is the source line, ``mask`` has the active
    lanes, and ``clock`` is that of the batch.
    """

    clock: Clock
    site: Site
    verb: str  # "reads", "writes" or "updates"
    mask: Mask  # the lanes that take part
    addresses: np.ndarray  # int64, one per active lane
    time: int
    locate: Callable[[int], tuple[int, ...]]  # from position among active lanes to array index
    before_atomic: bool = False  # a read that decides whether an atomic is tried

    @functools.cached_property
    def stamps(self) -> np.ndarray:
        """The stamps of this access, int64, one per active lane.

        A stamp is the launch-wide thread number, shifted left by TIME_BITS, plus the access's time.
        """
        return self.mask.select(self.clock.thread_stamps) | self.time

    @property
    def last_barrier(self) -> int | np.ndarray:
        """The time of the latest block barrier: an int for all lanes, or one per active lane."""
        return self.mask.select(self.clock.last_barrier)

    def numbers(self, where: np.ndarray) -> np.ndarray:
        """Return the launch-wide thread numbers (int64) of the active lanes selected by ``where``.

        ``where`` holds one bool per active lane.
        """
        return self.clock.batch.numbers[self.mask.index[where]]

    def thread(self, position: int) -> Thread:
        """Return the Thread at this position among the active lanes."""
        return self.clock.batch.thread(int(self.mask.index[position]))
