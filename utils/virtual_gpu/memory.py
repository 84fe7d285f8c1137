"""Memory of the virtual GPU: storage, addresses, and the shadow that finds races.

An address is an element number within one allocation. Every element of shared memory, and of each
global array that the kernel may write, has two shadow words: its last writer and its last reader.
A shadow word packs *who* (the thread's number in the launch) and *when* (the number of the access,
counted over the batch), so one comparison tells whether a barrier lies between two accesses.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .errors import Finding, Site
from .lanes import WARP, Batch, Mask, thread_by_number
from .report import Report

TIME_BITS = 26
TIME_MASK = (1 << TIME_BITS) - 1
ATOMIC = 1 << 59  # flag of a writer word: the last write was atomic
SEVERAL_THREADS = 1 << 60  # flags of a reader word: several threads of one warp have read,
SEVERAL_WARPS = 1 << 61  # several warps of one block,
SEVERAL_BLOCKS = 1 << 62  # several blocks
STAMP_MASK = ATOMIC - 1
NEVER = -1
READ_LOG_LIMIT = 64


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


class Memory:
    """One allocation: flat storage of one dtype, and its shadow where threads can meet in it."""

    def __init__(self, name: str, space: str, data: np.ndarray, tracked: bool, born: bool):
        self.name = name
        self.space = space
        self.data = data
        self.tracked = tracked
        self.born = born  # False: reading an element that nobody wrote is an error
        self.writer = np.full(data.size, NEVER, np.int64) if tracked else None
        self.reader = np.full(data.size, NEVER, np.int64) if tracked else None
        self.written = False
        self._reads: list[tuple[np.ndarray, np.ndarray]] = []

    def update(self, access: Access, change: Callable) -> np.ndarray | None:
        """An atomic operation: ``change(data, addresses)`` works on the storage."""
        if not self.tracked:
            return change(self.data, access.addresses)
        self._check_update(access)
        result = change(self.data, access.addresses)
        self.writer[access.addresses] = access.stamps | ATOMIC
        self.written = True
        if self.space == "global":
            access.clock.atomic(access.mask, access.time)
        return result

    def load(self, access: Access) -> np.ndarray:
        """The values at the access's addresses, one per active lane."""
        if self.tracked:
            self._check_load(access)
        return self.data[access.addresses]

    def store(self, access: Access, values: np.ndarray) -> None:
        """Write one value per active lane; of several to one address the last lane's stays."""
        if not self.tracked:
            self.data[access.addresses] = values
            return
        self._check_store(access, values)
        self.data[access.addresses] = values
        stamps = access.stamps
        self.writer[access.addresses] = stamps
        self.written = True
        twice = self.writer[access.addresses] != stamps
        if twice.any():
            lost = twice & ~same_bits(self.data[access.addresses], values)
            if lost.any():
                self._report_race(access, lost, self.writer[access.addresses], "written")

    def _check_load(self, access: Access) -> None:
        if self.written or not self.born:
            writers = self.writer[access.addresses]
            late = self._not_before_barrier(access, writers)
            if late is not None:
                self._examine_load(access, writers, late)
        self._reads.append((access.addresses, access.stamps))
        if len(self._reads) >= READ_LOG_LIMIT:
            self._flush_reads(access.clock)

    def _examine_load(self, access: Access, writers: np.ndarray, late: np.ndarray) -> None:
        unwritten = writers == NEVER
        if not self.born and unwritten.any():
            self._report_uninitialised(access, unwritten)
        race = late & self._by_others(access, writers)
        if race.any():
            self._report_race(access, race, writers, "written")

    def _check_update(self, access: Access) -> None:
        """Atomics do not race with atomics, but with everything else."""
        self._flush_reads(access.clock)
        for words, did in ((self.writer, "written"), (self.reader, "read")):
            earlier = words[access.addresses]
            late = self._not_before_barrier(access, earlier)
            if late is None:
                continue
            if did == "written":
                unwritten = earlier == NEVER
                if not self.born and unwritten.any():
                    self._report_uninitialised(access, unwritten)
                late &= (earlier & ATOMIC) == 0
            race = late & self._by_others(access, earlier)
            if race.any():
                self._report_race(access, race, earlier, did)

    def _check_store(self, access: Access, values: np.ndarray) -> None:
        self._flush_reads(access.clock)
        if self.written:
            writers = self.writer[access.addresses]
            late = self._not_before_barrier(access, writers)
            if late is not None:  # writing the value that is already there harms nobody
                race = late & self._by_others(access, writers)
                race &= ~same_bits(self.data[access.addresses], values)
                if race.any():
                    self._report_race(access, race, writers, "written")
        readers = self.reader[access.addresses]
        late = self._not_before_barrier(access, readers)
        if late is not None:
            race = late & self._by_others(access, readers)
            if race.any():
                self._report_race(access, race, readers, "read")

    def _not_before_barrier(self, access: Access, words: np.ndarray) -> np.ndarray | None:
        """Which shadow words are not ordered before this access by a barrier; None if all are.

        Elements that were never touched count as unordered here.
        """
        late = (words & TIME_MASK) >= access.last_barrier
        if self.space == "global":  # a barrier orders one block only
            width = access.clock.batch.width
            blocks = ((words & STAMP_MASK) >> TIME_BITS) // width
            late |= blocks != (access.stamps >> TIME_BITS) // width
            late |= (words & SEVERAL_BLOCKS) != 0
        return late if late.any() else None

    def _by_others(self, access: Access, words: np.ndarray) -> np.ndarray:
        """Which shadow words name another thread that nothing but a block's barrier could order."""
        other = ((words ^ access.stamps) & STAMP_MASK) >> TIME_BITS != 0
        other |= (words & (SEVERAL_THREADS | SEVERAL_WARPS | SEVERAL_BLOCKS)) != 0
        other &= words != NEVER
        at = np.flatnonzero(other)
        if at.size:  # rare: the finer kinds of order are looked up for these few only
            other[at] = ~self._ordered_otherwise(access, words[at], at)
        return other

    def _ordered_otherwise(self, access: Access, words: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Order by syncwarp, by a barrier of the grid, or by fences and atomics."""
        clock, batch, stamps = access.clock, access.clock.batch, access.stamps[at]
        ordered = _met_in_warp(words, stamps, clock)
        ordered &= (words & (SEVERAL_WARPS | SEVERAL_BLOCKS)) == 0
        if self.space == "global":
            who, when = (words & STAMP_MASK) >> TIME_BITS, words & TIME_MASK
            ordered |= (who >= batch.numbers[0]) & (when < clock.last_grid_barrier)
            theirs, ours = who // batch.width, (stamps >> TIME_BITS) // batch.width
            published = clock.releases.order(theirs, when, ours, batch.first)
            ordered |= published & (theirs != ours) & ((words & SEVERAL_BLOCKS) == 0)
        return ordered

    def _flush_reads(self, clock: Clock) -> None:
        """Move the logged reads into the shadow. Reads before a barrier of all blocks can be
        dropped in shared memory, and most are: that is what the log is for."""
        reads, self._reads = self._reads, []
        settled = clock.last_barrier if isinstance(clock.last_barrier, int) else 0
        for addresses, stamps in reads:
            if self.space == "shared" and int(stamps[0]) & TIME_MASK < settled:
                continue
            self._note_readers(addresses, stamps, clock)

    def _note_readers(self, addresses: np.ndarray, stamps: np.ndarray, clock: Clock) -> None:
        """Enter one access's readers. Several lanes may read one element at once, and others may
        have read it before: the flags say how far apart all these readers are."""
        before = self.reader[addresses]
        self.reader[addresses] = stamps
        now = self.reader[addresses]
        flags = _distance(now, stamps, clock)
        seen = before != NEVER
        if seen.any():
            settled = clock.last_barrier
            if not isinstance(settled, int):
                settled = settled[(stamps >> TIME_BITS) - clock.batch.numbers[0]]
            recent = (before & TIME_MASK) >= settled
            apart = _distance(before, stamps, clock) | (before & ~STAMP_MASK)
            recent &= ~_met_in_warp(before, stamps, clock) | (apart >= SEVERAL_WARPS)
            lasting = np.where(recent, ~0, SEVERAL_BLOCKS)  # a barrier settles one block's readers
            flags |= np.where(seen, apart & lasting, 0)
        marked = flags != 0
        if marked.any():
            np.bitwise_or.at(self.reader, addresses[marked], flags[marked])

    def _report_race(self, access: Access, where: np.ndarray, words: np.ndarray, did: str) -> None:
        if access.clock.report.knows("race", access.site, self.name):
            return
        at = int(np.flatnonzero(where)[0])
        word = int(words[at]) & STAMP_MASK
        clock = access.clock
        mine = access.thread(at)
        other = thread_by_number(clock.batch.geometry, word >> TIME_BITS)
        same_access = word & TIME_MASK == access.time
        line = access.site.line if same_access else self._other_line(word, clock)
        element = access.element(at)
        who = f"which {other}" if other != mine else "which another thread"
        clock.report.add(Finding(
            "race", access.site, self.name, element, (mine, other), int(where.sum()),
            f"{mine} {access.verb} {self.name}{list(element)}, {who} {did} at line {line}"
            f"{self._why(mine, other)}",
            other_line=line,
        ))  # fmt: skip

    def _other_line(self, word: int, clock: Clock) -> int | None:
        if word >> TIME_BITS < clock.batch.numbers[0]:
            return None  # an earlier batch's access: its clock is gone, its thread is known
        return clock.sites[word & TIME_MASK].line

    @staticmethod
    def _why(mine, other) -> str:
        if mine.block != other.block:
            return "; nothing orders two blocks of one launch."
        return " with no syncthreads() between."

    def _report_uninitialised(self, access: Access, where: np.ndarray) -> None:
        at = int(np.flatnonzero(where)[0])
        thread, element = access.thread(at), access.element(at)
        access.clock.report.add(Finding(
            "uninitialised", access.site, self.name, element, (thread,), int(where.sum()),
            f"{thread} reads {self.name}{list(element)}, which no thread has written.",
        ))  # fmt: skip


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

    def thread(self, at: int):
        """The thread at this position among the active lanes."""
        return self.clock.batch.thread(int(self.mask.index[at]))

    def element(self, at: int) -> tuple[int, ...]:
        """The array index that this active lane touches."""
        return self.locate(at)


def _distance(words: np.ndarray, stamps: np.ndarray, clock: Clock) -> np.ndarray:
    """How far apart two threads are, as flags of a reader word; 0 where they are the same."""
    first, second = (words & STAMP_MASK) >> TIME_BITS, stamps >> TIME_BITS
    width = clock.batch.width
    flags = np.where(first != second, SEVERAL_THREADS, 0)
    flags |= np.where(first // WARP != second // WARP, SEVERAL_WARPS, 0)
    flags |= np.where(first // width != second // width, SEVERAL_BLOCKS, 0)
    return flags


def _met_in_warp(words: np.ndarray, stamps: np.ndarray, clock: Clock) -> np.ndarray:
    """Whether both threads, lanes of one warp, have met at a syncwarp since the earlier access."""
    who, when, me = (words & STAMP_MASK) >> TIME_BITS, words & TIME_MASK, stamps >> TIME_BITS
    first = clock.batch.numbers[0]
    lane = np.maximum(who - first, 0)  # a lane of an earlier batch is in no warp of this one
    met = np.minimum(clock.last_warp_sync[lane], clock.last_warp_sync[me - first]) > when
    return met & (who // WARP == me // WARP)


def same_bits(stored: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Equal, where NaN equals NaN."""
    return (stored == values) | ((stored != stored) & (values != values))


@dataclass(frozen=True)
class ArrayView:
    """An array as a kernel sees it: a shape and strides over a Memory.

    ``offset`` (elements) is the same for all lanes or a vector; ``strides`` count elements.
    """

    memory: Memory
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int | np.ndarray = 0
    writable: bool = True

    @property
    def dtype(self) -> np.dtype:
        return self.memory.data.dtype

    @property
    def name(self) -> str:
        return self.memory.name


class LocalArray:
    """A thread's private array: one row of lanes per element, so that a constant index costs a
    list look-up, as a register does."""

    def __init__(self, name: str, shape: tuple[int, ...], dtype: np.dtype, lanes: int):
        self.name = name
        self.shape = shape
        self.dtype = dtype
        self.lanes = lanes
        size = int(np.prod(shape))
        self.rows: list[np.ndarray | None] = [None] * size
        self.unwritten: list[np.ndarray | None] = [np.ones(lanes, bool)] * size  # None: all written

    def load(self, row: int) -> tuple[np.ndarray, np.ndarray | None]:
        """The vector of one element, and the lanes that have never written it (None: none)."""
        values = self.rows[row]
        if values is None:
            values = np.zeros(self.lanes, self.dtype)
        return values, self.unwritten[row]

    def store(self, row: int, values: np.ndarray, mask: Mask) -> None:
        """Write one element in the lanes of ``mask``; ``values`` has one entry per lane."""
        if mask.full or self.rows[row] is None:
            self.rows[row] = values
        else:
            self.rows[row] = np.where(mask.lanes, values, self.rows[row])
        missing = self.unwritten[row]
        if missing is not None:
            missing = missing & ~mask.lanes
            self.unwritten[row] = missing if missing.any() else None


def constant_array(name: str, value: np.ndarray) -> ArrayView:
    """An array of the surrounding module, frozen at compilation as Numba freezes it."""
    data = np.ascontiguousarray(value).ravel().copy()
    memory = Memory(name, "constant", data, tracked=False, born=True)
    return ArrayView(memory, value.shape, element_strides(value.shape), writable=False)


def element_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides, in elements, of a C-contiguous array."""
    return tuple(int(np.prod(shape[axis + 1 :])) for axis in range(len(shape)))
