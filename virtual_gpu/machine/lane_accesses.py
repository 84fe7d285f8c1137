"""The accesses of lanes that ran one after another: their checks, and what is noted of them.

The lanes ran as if alone. That is right if no thread can have interfered: each access is ordered
after the earlier accesses of other threads, and nothing else runs at the same time. Otherwise
nothing is noted, and the caller undoes the stores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..checks.clock import TIME_MASK, Access
from ..checks.shadow import Shadow, ordered_after
from ..common.errors import Site
from ..common.lanes import Mask
from ..counts.transactions import LaneTransfer
from ..memory.memory import Memory
from .run import BatchRun


@dataclass(frozen=True)
class Event:
    """One access in the text of a kernel.

    ``slot`` is the number of the memory among those of the code, ``kind`` is "load" or "store".
    ``by_data`` is as in ``access.store``. ``differs`` is True if lanes may differ in the address.
    """

    site: Site
    slot: int
    kind: str
    by_data: bool
    differs: bool


@dataclass(frozen=True)
class LaneLog:
    """The accesses of lanes that ran one after another, in order.

    ``what`` has the number of each access's event in ``events``, and ``at`` its address in elements
    of the memory. ``memories`` are the slots of the code. The accesses of one lane are together;
    ``starts`` has the index of each lane's first access.
    """

    run: BatchRun
    mask: Mask
    events: Sequence[Event]
    memories: Sequence[Memory]
    what: list[int]
    at: list[int]
    starts: list[int]

    def settle(self) -> bool:
        """Note the accesses and return True, or return False if closures must judge them instead.

        It returns False, and notes nothing, if an access may be a flaw, or if several lanes made
        different accesses, whose order is then not known.
        """
        clock = self.run.clock
        if not self.what:
            return True
        if len(clock.sites) + len(self.what) > TIME_MASK:
            return False
        if self.mask.count == 1:
            return self._settle_one()
        count = self.starts[1] - self.starts[0]
        first = self.what[:count]
        ends = [*self.starts[1:], len(self.what)]
        if any(self.what[a:b] != first for a, b in zip(self.starts, ends, strict=True)):
            return False
        return self._settle_several(np.array(self.at, np.int64).reshape(-1, count), first)

    def _settle_several(self, at: np.ndarray, what: list[int]) -> bool:
        """Settle the loads of several lanes; return False, with nothing noted, for a possible flaw.

        All lanes made the same accesses. ``at`` has the addresses, one row per lane, and ``what``
        the event number of each column.
        """
        slots = np.array([event.slot for event in self.events])[what]
        clock, me = self.run.clock, self.run.batch.numbers[self.mask.index][:, None]
        barrier = self.mask.select(clock.last_barrier)
        barrier = barrier if isinstance(barrier, int) else barrier[:, None]
        for slot, memory in enumerate(self.memories):
            units = at[:, slots == slot]
            if memory.shadow is None or not units.size:
                continue
            words = memory.shadow.writer[units]
            if not _are_clean(memory, words, me, barrier, self.run).all():
                return False
        for step, number in enumerate(what):
            event = self.events[number]
            shadow = self.memories[event.slot].shadow
            if shadow is None:
                continue
            units = np.ascontiguousarray(at[:, step])
            time = clock.tick(event.site)
            shadow.log_read(self._access(event.site, units, time), units)
        return True

    def _access(self, site: Site, units: np.ndarray, time: int) -> Access:
        """Return the Access of a load for the log of reads, which asks for no array indices."""
        return Access(self.run.clock, site, "reads", self.mask, units, time, lambda position: ())

    def _settle_one(self) -> bool:
        """Settle one lane's accesses; return False, with nothing noted, for a possible flaw."""
        what, at = np.array(self.what), np.array(self.at, np.int64)
        slots = np.array([event.slot for event in self.events])[what]
        is_store = np.array([event.kind == "store" for event in self.events])[what]
        chosen = [np.flatnonzero(slots == slot) for slot in range(len(self.memories))]
        shadowed = [
            (memory.shadow, memory, positions)
            for memory, positions in zip(self.memories, chosen, strict=True)
            if memory.shadow is not None and positions.size
        ]
        for _, memory, positions in shadowed:
            if not self._is_clean(memory, at[positions], is_store[positions]):
                return False
        clock = self.run.clock
        first, sites = len(clock.sites), [event.site for event in self.events]
        clock.sites.extend(map(sites.__getitem__, self.what))
        times = first + np.arange(len(what))
        stamps = int(clock.thread_stamps[self.mask.index[0]]) | times
        for shadow, _, positions in shadowed:
            self._note(shadow, at, stamps, positions, is_store[positions])
        if self.run.counters:
            self._count(what, at)
        return True

    def _is_clean(self, memory: Memory, units: np.ndarray, is_store: np.ndarray) -> bool:
        """Return True if no access of the lane to this memory can be a flaw."""
        run, shadow, lane = self.run, memory.shadow, int(self.mask.index[0])
        me, barrier = int(run.batch.numbers[lane]), run.clock.last_barrier
        barrier = barrier if isinstance(barrier, int) else int(barrier[lane])
        words, width = shadow.writer.take(units), run.batch.width
        if not ordered_after(words, me, barrier, shadow.space, width).all():
            return False
        if not memory.initialised:
            unwritten = units[words < 0]
            if unwritten.size:
                elements, first = np.unique(units, return_index=True)
                stored_first = is_store[first[np.searchsorted(elements, unwritten)]]
                if not stored_first.all():
                    return False
        if not is_store.any():
            return True
        shadow.flush_reads(run.clock)
        readers = shadow.reader.take(units[is_store])
        return bool(ordered_after(readers, me, barrier, shadow.space, width).all())

    def _note(
        self, shadow: Shadow, at: np.ndarray, stamps: np.ndarray, positions: np.ndarray,
        is_store: np.ndarray,
    ) -> None:  # fmt: skip
        """Note the accesses of the lane to one memory, as if they were made one by one."""
        stores, loads = positions[is_store], positions[~is_store]
        last = int(stores[-1]) if stores.size else -1
        self._log_reads(shadow, at, stamps, loads[loads < last])
        if stores.size:
            shadow.flush_reads(self.run.clock)
            shadow.overwrite(at[stores], stamps[stores], int(stamps[last]) & TIME_MASK)
        self._log_reads(shadow, at, stamps, loads[loads > last])

    def _log_reads(
        self, shadow: Shadow, at: np.ndarray, stamps: np.ndarray, loads: np.ndarray
    ) -> None:
        """Add loads of the lane to the log of reads, as one entry with a stamp for each of them."""
        if loads.size:
            access = self._access(None, at[loads], int(stamps[loads[-1]]) & TIME_MASK)
            access.__dict__["stamps"] = stamps[loads]
            shadow.log_read(access, at[loads])

    def _count(self, what: np.ndarray, at: np.ndarray) -> None:
        """Count the accesses of the lane, in the order in which its lines came first."""
        numbers, first = np.unique(what, return_index=True)
        for number in numbers[np.argsort(first)]:
            event = self.events[number]
            addresses = at[what == number]
            where = self.mask, event.site, self.run.batch.blocks, False, event.kind
            memory = self.memories[event.slot]
            transfer = LaneTransfer(memory, event.kind, 1, addresses, *where)
            self.run.counters.one_by_one(transfer, event.differs)


def _are_clean(memory: Memory, words: np.ndarray, me, barrier, run: BatchRun) -> np.ndarray:
    """Return a bool per writer word: True if a load by ``me`` is ordered and reads defined data."""
    clean = ordered_after(words, me, barrier, memory.space, run.batch.width)
    return clean if memory.initialised else clean & (words >= 0)
