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
FLAGS = SEVERAL_THREADS | SEVERAL_WARPS | SEVERAL_BLOCKS
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
        self.unsettled: set[Shadow] = set()  # shadows with reads in their logs

    def settle(self) -> None:
        """The batch is over: its reads go into the shadows while its clock still runs."""
        for shadow in self.unsettled:
            if shadow.space == "global":
                shadow.flush_reads(self)

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
        access.clock.unsettled.add(self)
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
            f"{mine} {access.verb} {self.name}{list(element)}, {who} {did}{place}"
            f"{_why_unordered(mine, other)}",
            other_line=line,
        ))  # fmt: skip

    @staticmethod
    def _other_line(word: int, clock: Clock) -> int | None:
        if word >> TIME_BITS < clock.batch.numbers[0]:
            return None  # an earlier batch's access: its clock is gone, its thread is known
        return clock.sites[word & TIME_MASK].line


def _why_unordered(mine, other) -> str:
    if mine.block != other.block:
        return "; nothing orders these two blocks."
    return " with no syncthreads() between."


class Memory:
    """One allocation: flat storage of one dtype, and its shadow where threads can meet in it.

    born: False where reading an element that nobody wrote is an error (shared memory).
    unwritten: for device memory without content, which elements are still undefined.
    """

    def __init__(
        self,
        name: str,
        space: str,
        data: np.ndarray,
        shadow: Shadow | None = None,
        unwritten: np.ndarray | None = None,
    ):
        self.name = name
        self.space = space
        self.data = data
        self.shadow = shadow
        self.unwritten = unwritten
        self.born = space != "shared"

    @property
    def plain(self) -> bool:
        """Whether a load needs no bookkeeping."""
        return self.shadow is None and self.unwritten is None

    def load(self, access: Access) -> np.ndarray:
        """The values at the access's addresses, one per active lane."""
        self._check_content(access)
        for units in self._units(access):
            self.shadow.check_load(access, units, self.born)
        return self.data[access.addresses]

    def store(self, access: Access, values: np.ndarray) -> None:
        """Write one value per active lane; of several to one address the last lane's stays."""
        if self.shadow is None:
            self.data[access.addresses] = values
            return
        changed = ~same_bits(self.data[access.addresses], values)
        for units in self._units(access):
            self.shadow.check_store(access, units, changed)
        self.data[access.addresses] = values
        self._mark_content(access)
        if changed.any():
            lost = ~same_bits(self.data[access.addresses], values)
            if lost.any():
                self.shadow.report_lost_write(access, next(self._units(access)), lost)

    def update(self, access: Access, change: Callable) -> np.ndarray | None:
        """An atomic operation: ``change(data, addresses)`` works on the storage."""
        self._check_content(access)
        for units in self._units(access):
            self.shadow.check_update(access, units, self.born)
        if self.space == "global":
            access.clock.atomic(access.mask, access.time)
        return change(self.data, access.addresses)

    def _units(self, access: Access):
        """The shadow units of each address: one array for each unit that an element covers."""
        if self.shadow is None:
            return
        parts = self.shadow.writer.size // self.data.size if self.data.size else 1
        if parts == 1:
            yield access.addresses
            return
        for part in range(parts):
            yield access.addresses * parts + part

    def _check_content(self, access: Access) -> None:
        if self.unwritten is not None:
            undefined = self.unwritten[access.addresses]
            if undefined.any():
                report_uninitialised(access, self.name, undefined)

    def _mark_content(self, access: Access) -> None:
        if self.unwritten is not None:
            self.unwritten[access.addresses] = False


def report_uninitialised(access: Access, name: str, where: np.ndarray) -> None:
    """Some lanes read what no thread has written."""
    at = int(np.flatnonzero(where)[0])
    thread, element = access.thread(at), access.locate(at)
    access.clock.report.add(Finding(
        "uninitialised", access.site, name, element, (thread,), int(where.sum()),
        f"{thread} reads {name}{list(element)}, which no thread has written.",
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
    memory = Memory(name, "constant", np.ascontiguousarray(value).ravel().copy())
    return ArrayView(memory, value.shape, element_strides(value.shape), writable=False)


def element_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides, in elements, of a C-contiguous array."""
    return tuple(int(np.prod(shape[axis + 1 :])) for axis in range(len(shape)))
