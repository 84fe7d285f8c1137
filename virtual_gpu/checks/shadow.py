"""The shadow of memory: who last wrote and read each element, which is how races are found.

A shadow word is the stamp of an access (see clock.py) with flags that say how many threads it
stands for. Every element of shared memory has two words, and so has every element of a global array
that the kernel may write.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..common.errors import Finding, Site, Thread
from ..common.lanes import WARP, thread_by_number
from .clock import TIME_BITS, TIME_MASK, Access, Clock
from .releases import NEVER
from .report import Flaw

ATOMIC = 1 << 59  # flag of a writer word: the last write was atomic
SEVERAL_THREADS = 1 << 60  # flags of a reader word: several threads of one warp have read,
SEVERAL_WARPS = 1 << 61  # several warps of one block,
SEVERAL_BLOCKS = 1 << 62  # several blocks
STAMP_MASK = ATOMIC - 1
FLAGS = SEVERAL_THREADS | SEVERAL_WARPS | SEVERAL_BLOCKS
READ_LOG_BYTES = 1 << 25  # a log that is full goes into the shadow


class Shadow:
    """Who touched what, and when: two words for each unit of an allocation.

    A unit is an element, or in dynamic shared memory the smallest element that it is seen through.
    """

    def __init__(self, name: str, space: str, size: int):
        self.name = name
        self.space = space
        self.writer = np.full(size, NEVER, np.int64)
        self.reader = np.full(size, NEVER, np.int64)
        self.readers_lanes = np.zeros(size, np.uint32)  # lanes of the reader's warp that have read
        self.written = False
        self.last_write = NEVER  # when the batch that runs now last wrote
        self._last_noted_read = NEVER  # of its reads that are in the shadow, the last one's time
        self._complete_at: int | None = None  # the last write after which all units were looked at
        self._complete = False  # whether every unit had been written then
        self._reads: list[tuple[np.ndarray, Access]] = []
        self._logged = 0  # bytes
        self._spread = 0  # how many of the logged reads are in _read_at
        self._read_at: np.ndarray | None = None  # of logged reads: each unit's last one

    def refine(self, factor: int) -> None:
        """Make units smaller by this factor; each part inherits its whole's words."""
        self.writer, self.reader = self.writer.repeat(factor), self.reader.repeat(factor)
        self.readers_lanes = self.readers_lanes.repeat(factor)
        self._forget_log()  # views are made before they are read, so nothing is lost
        self._read_at = self._complete_at = None

    def check_load(self, access: Access, units: np.ndarray, born: bool) -> None:
        """Another thread's write with nothing between is a race; no write at all is reported."""
        if (self.written or not born) and not self._settled(access, self.last_write, born):
            writers = self.writer.take(units)
            late = self._not_before_barrier(access, writers)
            if late is not None:
                unwritten = writers == NEVER
                if not born and unwritten.any():
                    report_uninitialised(access, self.name, unwritten)
                race = late & self._by_others(access, writers)
                if access.before_atomic:
                    stale = race & ((writers & ATOMIC) != 0)
                    self._report_stale_read(access, stale, writers)
                    race &= ~stale
                self._report_race(access, race, writers)
        if access.before_atomic:
            return  # no atomic races with it, and a store that does meets the loop's atomics
        self._reads.append((units, access))
        self._logged += units.nbytes
        if self._logged >= READ_LOG_BYTES:
            self.flush_reads(access.clock)

    def _settled(self, access: Access, last: int, born: bool) -> bool:
        """Whether a barrier of all blocks orders this access after the ``last`` other one, and no
        unit is without content: then no single word needs to be looked at."""
        barrier = access.clock.last_barrier
        if self.space != "shared" or not isinstance(barrier, int) or last >= barrier:
            return False
        return born or self._all_written()

    def _all_written(self) -> bool:
        if not self._complete and self._complete_at != self.last_write:
            self._complete_at = self.last_write
            self._complete = not (self.writer == NEVER).any()
        return self._complete

    def check_store(self, access: Access, units: np.ndarray, changed: np.ndarray) -> None:
        """``changed``: lanes whose value differs from what is stored; the others harm nobody."""
        self._note_met_reads(access, units)
        late = None
        if self.written and not self._settled(access, self.last_write, born=True):
            writers = self.writer.take(units)
            late = self._not_before_barrier(access, writers)
            if late is not None:
                race = late & changed & self._by_others(access, writers)
                self._report_race(access, race, writers)
        self._check_readers(access, units)
        self._note_writers(access, units, contested=late is not None)

    def check_update(self, access: Access, units: np.ndarray, born: bool) -> None:
        """An atomic does not race with atomics, but with everything else."""
        self._note_met_reads(access, units)
        writers = self.writer.take(units)
        late = self._not_before_barrier(access, writers)
        if late is not None:
            unwritten = writers == NEVER
            if not born and unwritten.any():
                report_uninitialised(access, self.name, unwritten)
            race = late & ((writers & ATOMIC) == 0) & self._by_others(access, writers)
            self._report_race(access, race, writers)
        self._check_readers(access, units)
        self._note(self.writer, units, access.stamps, access.clock)
        self.writer[units] |= ATOMIC
        self.written, self.last_write = True, access.time

    def report_lost_write(self, access: Access, units: np.ndarray, lost: np.ndarray) -> None:
        """Several lanes wrote different values at once, and these lanes' were lost."""
        self._report_race(access, lost, self.writer.take(units))

    def _check_readers(self, access: Access, units: np.ndarray) -> None:
        if self._settled(access, self._last_noted_read, born=True):
            return
        readers = self.reader.take(units)
        late = self._not_before_barrier(access, readers)
        if late is not None:
            race = late & self._by_others(access, readers, self.readers_lanes.take(units))
            self._report_race(access, race, readers, "read")

    def _note_writers(self, access: Access, units: np.ndarray, contested: bool) -> None:
        """A write that is ordered after all others replaces them; otherwise their traces stay."""
        if contested:
            self._note(self.writer, units, access.stamps, access.clock)
            self.writer[units] &= ~ATOMIC
        else:
            self.writer[units] = access.stamps
            now = self.writer.take(units)
            if (now != access.stamps).any():
                flags = _distance(now, access.stamps, access.clock)
                np.bitwise_or.at(self.writer, units, flags)
        self.written, self.last_write = True, access.time

    def _not_before_barrier(self, access: Access, words: np.ndarray) -> np.ndarray | None:
        """Which shadow words are not ordered before this access by a barrier; None if all are.

        Units that were never touched count as unordered here.
        """
        late = (words & TIME_MASK) >= access.last_barrier
        if self.space == "global":  # a barrier orders one block only
            width = access.clock.batch.width
            blocks = ((words & STAMP_MASK) >> TIME_BITS) // width
            late |= blocks != (access.stamps >> TIME_BITS) // width
            late |= (words & SEVERAL_BLOCKS) != 0
        return late if late.any() else None

    def _by_others(self, access: Access, words: np.ndarray, lanes=None) -> np.ndarray:
        """Which shadow words name another thread that nothing but a block's barrier could order.

        ``lanes``: for readers, the lanes of one warp that share the word.
        """
        other = ((words ^ access.stamps) & STAMP_MASK) >> TIME_BITS != 0
        other |= (words & (SEVERAL_THREADS | SEVERAL_WARPS | SEVERAL_BLOCKS)) != 0
        other &= words != NEVER
        at = np.flatnonzero(other)
        if at.size:  # rare: the finer kinds of order are looked up for these few only
            shared = None if lanes is None else lanes[at]
            other[at] = ~self._ordered_otherwise(access.clock, words[at], access.stamps[at], shared)
        return other

    def _ordered_otherwise(self, clock: Clock, words, stamps, lanes) -> np.ndarray:
        """Order by syncwarp, by a barrier of the grid, or by fences and atomics."""
        ordered = _met_in_warp(words, stamps, clock, lanes)
        ordered &= (words & (SEVERAL_WARPS | SEVERAL_BLOCKS)) == 0
        who, when, me = (words & STAMP_MASK) >> TIME_BITS, words & TIME_MASK, stamps >> TIME_BITS
        near = who // clock.batch.width == me // clock.batch.width
        ordered |= near & clock.releases.order_threads(who, when, me)
        # Of several threads only the last is known. Where that is near, the others count as
        # ordered if they may have released: a correct kernel must not be accused.
        several = near & ((words & (SEVERAL_THREADS | SEVERAL_WARPS)) != 0)
        ordered |= several & clock.releases.may_follow_threads(me)
        if self.space == "global":
            ordered |= self._ordered_in_grid(clock, words, stamps, near)
        return ordered

    @staticmethod
    def _ordered_in_grid(clock: Clock, words, stamps, near: np.ndarray) -> np.ndarray:
        """Order by a barrier of the grid, or by fences and atomics of two blocks."""
        who, when, me = (words & STAMP_MASK) >> TIME_BITS, words & TIME_MASK, stamps >> TIME_BITS
        first, barriers = clock.batch.numbers[0], clock.barrier_of(stamps)
        ordered = (who >= first) & (when < clock.last_grid_barrier)
        ordered |= ~near & clock.releases.order_blocks(who, when, me, barriers, first)
        several = near & ((words & SEVERAL_BLOCKS) != 0)
        return ordered | several & clock.releases.may_follow_blocks(me, barriers)

    def flush_reads(self, clock: Clock) -> None:
        """Move the logged reads into the shadow. Reads before a barrier of all blocks can be
        dropped in shared memory, and most are: that is what the log is for."""
        reads = self._reads
        self._forget_log()
        for units, access in reads:
            if not self._settled(access, access.time, born=True):
                self._note(self.reader, units, access.stamps, clock)
                self._last_noted_read = access.time

    def _note_met_reads(self, access: Access, units: np.ndarray) -> None:
        """Bring the shadow up to date with the logged reads, if one of them may have been of these
        units. In a kernel with two buffers none has, and its log is dropped at the next barrier."""
        if self._reads and not self._surely_unread(access, units):
            self.flush_reads(access.clock)

    def _surely_unread(self, access: Access, units: np.ndarray) -> bool:
        if self.space != "shared" or not isinstance(access.clock.last_barrier, int):
            return False
        if self._settled(access, self._reads[-1][1].time, born=True):
            self._forget_log()
            return True
        if self._read_at is None:
            self._read_at = np.full(self.reader.size, NEVER, np.int64)
        for read, of in self._reads[self._spread :]:
            self._read_at[read] = of.time
        self._spread = len(self._reads)
        return self._settled(access, int(self._read_at.take(units).max()), born=True)

    def _forget_log(self) -> None:
        self._reads, self._logged, self._spread = [], 0, 0

    def _note(self, shadow: np.ndarray, units, stamps, clock: Clock) -> None:
        """Enter one access. Several lanes may touch one unit at once, and others may have before:
        the flags say how far apart all these threads are."""
        before = shadow.take(units)
        shadow[units] = stamps
        now, seen = shadow.take(units), before != NEVER
        recent = seen & ((before & TIME_MASK) >= clock.barrier_of(stamps))
        if self.space == "shared" and not recent.any() and (now == stamps).all():
            if shadow is self.reader:
                self.readers_lanes[units] = _lane_bits(stamps)
            return
        flags = _distance(now, stamps, clock)
        if seen.any():
            apart = _distance(before, stamps, clock) | (before & FLAGS)
            recent &= ~_met_in_warp(before, stamps, clock) | (apart >= SEVERAL_WARPS)
            lasting = np.where(recent, ~0, SEVERAL_BLOCKS)  # a barrier settles one block's threads
            flags |= np.where(seen, apart & lasting, 0)
        marked = flags != 0
        if marked.any():
            np.bitwise_or.at(shadow, units[marked], flags[marked])
        if shadow is self.reader:
            self._note_lanes(units, stamps, recent)

    def _note_lanes(self, units: np.ndarray, stamps: np.ndarray, recent: np.ndarray) -> None:
        """Which lanes of the last reader's warp have read since they last met."""
        self.readers_lanes[units[~recent]] = 0
        np.bitwise_or.at(self.readers_lanes, units, _lane_bits(stamps))

    def _report_race(
        self, access: Access, where: np.ndarray, words: np.ndarray, did: str = "written"
    ) -> None:
        if where.any():
            flaw = Flaw("race", access.site, self.name, access.numbers(where))
            access.clock.report.add(flaw, lambda: self._race(access, where, words, did))

    def _report_stale_read(self, access: Access, where: np.ndarray, words: np.ndarray) -> None:
        if where.any():
            flaw = Flaw("stale_read", access.site, self.name, access.numbers(where))
            access.clock.report.add(flaw, lambda: self._stale_read(access, where, words))

    def _stale_read(self, access: Access, where: np.ndarray, words: np.ndarray) -> Finding:
        race = self._race(access, where, words, "updated")
        return replace(
            race, kind="stale_read",
            message=f"{race.message} The atomic that follows looks at it once more.",
        )  # fmt: skip

    def _race(self, access: Access, where: np.ndarray, words: np.ndarray, did: str) -> Finding:
        at = int(np.flatnonzero(where)[0])
        word = int(words[at]) & STAMP_MASK
        clock = access.clock
        mine, other = access.thread(at), thread_by_number(clock.batch.geometry, word >> TIME_BITS)
        site = access.site if word & TIME_MASK == access.time else self._other_site(word, clock)
        element = access.locate(at)
        who = f"which {other}" if other != mine else "which another thread"
        place = _at(site, access.site) if site else ""
        return Finding(
            "race", access.site, self.name, element, (mine, other), int(where.sum()),
            f"{mine} {access.verb} {self.name}{list(element)}, {who} has {did}{place}"
            f"{_why_unordered(mine, other)}",
            other_line=site.line if site else None,
        )  # fmt: skip

    @staticmethod
    def _other_site(word: int, clock: Clock) -> Site | None:
        if word >> TIME_BITS < clock.batch.numbers[0]:
            return None  # an earlier batch's access: its clock is gone, its thread is known
        return clock.sites[word & TIME_MASK]


def _at(site: Site, mine: Site) -> str:
    """Where the other access stands; a number of another file would mislead without the text."""
    return f" at line {site.line}" if site.file == mine.file else f" at {site}"


def _why_unordered(mine: Thread, other: Thread) -> str:
    if mine.block != other.block:
        return "; nothing orders these two blocks."
    return " with no syncthreads() between."


def report_uninitialised(access: Access, name: str, where: np.ndarray) -> None:
    """Some lanes read what no thread has written."""

    def describe() -> Finding:
        at = int(np.flatnonzero(where)[0])
        thread, element = access.thread(at), access.locate(at)
        return Finding(
            "uninitialised", access.site, name, element, (thread,), int(where.sum()),
            f"{thread} reads {name}{list(element)}, which no thread has written.",
        )  # fmt: skip

    flaw = Flaw("uninitialised", access.site, name, access.numbers(where))
    access.clock.report.add(flaw, describe)


def _lane_bits(stamps: np.ndarray) -> np.ndarray:
    """Each stamp's lane within its warp, as one bit of 32."""
    return np.uint32(1) << ((stamps >> TIME_BITS) % WARP).astype(np.uint32)


def _distance(words: np.ndarray, stamps: np.ndarray, clock: Clock) -> np.ndarray:
    """How far apart two threads are, as flags of a reader word; 0 where they are the same."""
    first, second = (words & STAMP_MASK) >> TIME_BITS, stamps >> TIME_BITS
    width = clock.batch.width
    flags = np.where(first != second, SEVERAL_THREADS, 0)
    flags |= np.where(first // WARP != second // WARP, SEVERAL_WARPS, 0)
    flags |= np.where(first // width != second // width, SEVERAL_BLOCKS, 0)
    return flags


def _met_in_warp(words, stamps, clock: Clock, lanes: np.ndarray | None = None) -> np.ndarray:
    """Whether two threads of one warp have met at a syncwarp since the earlier access.

    ``lanes``: as bits, all lanes that made the earlier access; each of them must have met.
    """
    who, when, me = (words & STAMP_MASK) >> TIME_BITS, words & TIME_MASK, stamps >> TIME_BITS
    first, last = clock.batch.numbers[0], clock.batch.size - 1
    lane = np.clip(who - first, 0, last)  # no lane of this batch is in no warp of it
    met = np.minimum(clock.last_warp_sync[lane], clock.last_warp_sync[me - first]) > when
    met &= who // WARP == me // WARP
    if lanes is not None and met.any():
        syncs = clock.last_warp_sync.reshape(-1, WARP)[lane // WARP]
        absent = (lanes[:, None] >> np.arange(WARP, dtype=np.uint32)) & 1 == 0
        met &= (absent | (syncs > when[:, None])).all(axis=1)
    return met
