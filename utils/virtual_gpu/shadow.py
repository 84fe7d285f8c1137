"""The shadow of memory: who last wrote and read each element, which is how races are found.

A shadow word is the stamp of an access (see clock.py) with flags that say how many threads it
stands for. Every element of shared memory has two words, and so has every element of a global array
that the kernel may write.
"""

from __future__ import annotations

import numpy as np

from .clock import NEVER, TIME_BITS, TIME_MASK, Access, Clock
from .errors import Finding, Thread
from .lanes import WARP, thread_by_number

ATOMIC = 1 << 59  # flag of a writer word: the last write was atomic
SEVERAL_THREADS = 1 << 60  # flags of a reader word: several threads of one warp have read,
SEVERAL_WARPS = 1 << 61  # several warps of one block,
SEVERAL_BLOCKS = 1 << 62  # several blocks
STAMP_MASK = ATOMIC - 1
FLAGS = SEVERAL_THREADS | SEVERAL_WARPS | SEVERAL_BLOCKS
READ_LOG_LIMIT = 64


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
        self._reads: list[tuple[np.ndarray, np.ndarray]] = []

    def refine(self, factor: int) -> None:
        """Make units smaller by this factor; each part inherits its whole's words."""
        self.writer, self.reader = self.writer.repeat(factor), self.reader.repeat(factor)
        self.readers_lanes = self.readers_lanes.repeat(factor)
        self._reads = []  # views are made before they are read, so nothing is lost

    def check_load(self, access: Access, units: np.ndarray, born: bool) -> None:
        """Another thread's write with nothing between is a race; no write at all is reported."""
        if self.written or not born:
            writers = self.writer[units]
            late = self._not_before_barrier(access, writers)
            if late is not None:
                unwritten = writers == NEVER
                if not born and unwritten.any():
                    report_uninitialised(access, self.name, unwritten)
                self._report_race(access, late & self._by_others(access, writers), writers)
        self._reads.append((units, access.stamps))
        if len(self._reads) >= READ_LOG_LIMIT:
            self.flush_reads(access.clock)

    def check_store(self, access: Access, units: np.ndarray, changed: np.ndarray) -> None:
        """``changed``: lanes whose value differs from what is stored; the others harm nobody."""
        self.flush_reads(access.clock)
        writers, late = self.writer[units], None
        if self.written:
            late = self._not_before_barrier(access, writers)
            if late is not None:
                race = late & changed & self._by_others(access, writers)
                self._report_race(access, race, writers)
        self._check_readers(access, units)
        self._note_writers(access, units, contested=late is not None)

    def check_update(self, access: Access, units: np.ndarray, born: bool) -> None:
        """An atomic does not race with atomics, but with everything else."""
        self.flush_reads(access.clock)
        writers = self.writer[units]
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
        self.written = True

    def report_lost_write(self, access: Access, units: np.ndarray, lost: np.ndarray) -> None:
        """Several lanes wrote different values at once, and these lanes' were lost."""
        self._report_race(access, lost, self.writer[units])

    def _check_readers(self, access: Access, units: np.ndarray) -> None:
        readers = self.reader[units]
        late = self._not_before_barrier(access, readers)
        if late is not None:
            race = late & self._by_others(access, readers, self.readers_lanes[units])
            self._report_race(access, race, readers, "read")

    def _note_writers(self, access: Access, units: np.ndarray, contested: bool) -> None:
        """A write that is ordered after all others replaces them; otherwise their traces stay."""
        if contested:
            self._note(self.writer, units, access.stamps, access.clock)
            self.writer[units] &= ~ATOMIC
        else:
            self.writer[units] = access.stamps
            now = self.writer[units]
            if (now != access.stamps).any():
                flags = _distance(now, access.stamps, access.clock)
                np.bitwise_or.at(self.writer, units, flags)
        self.written = True

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
        width = clock.batch.width
        ordered = _met_in_warp(words, stamps, clock, lanes)
        ordered &= (words & (SEVERAL_WARPS | SEVERAL_BLOCKS)) == 0
        if self.space == "global":
            who, when = (words & STAMP_MASK) >> TIME_BITS, words & TIME_MASK
            ordered |= (who >= clock.batch.numbers[0]) & (when < clock.last_grid_barrier)
            theirs, ours = who // width, (stamps >> TIME_BITS) // width
            published = clock.releases.order(theirs, when, ours, clock.batch.first)
            ordered |= published & (theirs != ours)
            # Of several blocks only the last is known. Where that is this one, the others count as
            # ordered if they may have published: a correct kernel must not be accused.
            several = (words & SEVERAL_BLOCKS) != 0
            ordered |= several & (theirs == ours) & clock.releases.may_have_acquired(ours)
        return ordered

    def flush_reads(self, clock: Clock) -> None:
        """Move the logged reads into the shadow. Reads before a barrier of all blocks can be
        dropped in shared memory, and most are: that is what the log is for."""
        reads, self._reads = self._reads, []
        settled = clock.last_barrier if isinstance(clock.last_barrier, int) else 0
        for units, stamps in reads:
            if self.space == "shared" and int(stamps[0]) & TIME_MASK < settled:
                continue
            self._note(self.reader, units, stamps, clock)

    def _note(self, shadow: np.ndarray, units, stamps, clock: Clock) -> None:
        """Enter one access. Several lanes may touch one unit at once, and others may have before:
        the flags say how far apart all these threads are."""
        before = shadow[units]
        shadow[units] = stamps
        flags = _distance(shadow[units], stamps, clock)
        recent = np.zeros(len(units), bool)
        seen = before != NEVER
        if seen.any():
            recent = seen & ((before & TIME_MASK) >= clock.barrier_of(stamps))
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
        lane = ((stamps >> TIME_BITS) % WARP).astype(np.uint32)
        np.bitwise_or.at(self.readers_lanes, units, np.uint32(1) << lane)

    def _report_race(
        self, access: Access, where: np.ndarray, words: np.ndarray, did: str = "written"
    ) -> None:
        if not where.any() or access.clock.report.knows("race", access.site, self.name):
            return
        at = int(np.flatnonzero(where)[0])
        word = int(words[at]) & STAMP_MASK
        clock = access.clock
        mine, other = access.thread(at), thread_by_number(clock.batch.geometry, word >> TIME_BITS)
        line = access.site.line
        if word & TIME_MASK != access.time:
            line = self._other_line(word, clock)
        element = access.locate(at)
        who = f"which {other}" if other != mine else "which another thread"
        place = f" at line {line}" if line else ""
        clock.report.add(Finding(
            "race", access.site, self.name, element, (mine, other), int(where.sum()),
            f"{mine} {access.verb} {self.name}{list(element)}, {who} has {did}{place}"
            f"{_why_unordered(mine, other)}",
            other_line=line,
        ))  # fmt: skip

    @staticmethod
    def _other_line(word: int, clock: Clock) -> int | None:
        if word >> TIME_BITS < clock.batch.numbers[0]:
            return None  # an earlier batch's access: its clock is gone, its thread is known
        return clock.sites[word & TIME_MASK].line


def _why_unordered(mine: Thread, other: Thread) -> str:
    if mine.block != other.block:
        return "; nothing orders these two blocks."
    return " with no syncthreads() between."


def report_uninitialised(access: Access, name: str, where: np.ndarray) -> None:
    """Some lanes read what no thread has written."""
    at = int(np.flatnonzero(where)[0])
    thread, element = access.thread(at), access.locate(at)
    access.clock.report.add(Finding(
        "uninitialised", access.site, name, element, (thread,), int(where.sum()),
        f"{thread} reads {name}{list(element)}, which no thread has written.",
    ))  # fmt: skip


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
