"""The shadow of memory: the last writer and readers of each element, by which races are found.

A shadow word is the stamp of an access (see clock.py), with flags that say whether it represents
several threads, warps or blocks. Every element of shared memory has two words, and so has every
element of a global array that the kernel may write.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..common.errors import Finding, Site, Thread
from ..common.lanes import WARP, thread_by_number
from .clock import TIME_BITS, TIME_MASK, Access, Clock
from .releases import NEVER
from .report import NO_SYNCWARP, Flaw

ATOMIC = 1 << 59  # flag of a writer word: the last write was atomic
SEVERAL_THREADS = 1 << 60  # flags of a reader word: several threads of one warp have read,
SEVERAL_WARPS = 1 << 61  # several warps of one block,
SEVERAL_BLOCKS = 1 << 62  # several blocks
STAMP_MASK = ATOMIC - 1
FLAGS = SEVERAL_THREADS | SEVERAL_WARPS | SEVERAL_BLOCKS
READ_LOG_BYTES = 1 << 25  # a full log is moved into the shadow


class Shadow:
    """A writer word and a reader word for each unit of one allocation.

    A unit is an element; in dynamic shared memory it is the smallest element of any view. ``name``
    is that of the array, ``space`` is "global" or "shared", and ``size`` is the number of units.
    ``readers_lanes`` has, as bits, the lanes of the reader's warp that have read a unit.
    ``written`` is False before the first write, and ``last_write`` is the time of the last write of
    the present batch.
    """

    def __init__(self, name: str, space: str, size: int):
        self.name = name
        self.space = space
        self.writer = np.full(size, NEVER, np.int64)
        self.reader = np.full(size, NEVER, np.int64)
        self.readers_lanes = np.zeros(size, np.uint32)  # lanes of the reader's warp that have read
        self.written = False
        self.last_write = NEVER  # time of the last write of the present batch
        self._last_noted_read = NEVER  # time of its last read in the shadow
        self._complete_at: int | None = None  # the last write when all units were examined
        self._complete = False  # True if every unit was written by then
        self._reads: list[tuple[np.ndarray, Access]] = []
        self._logged = 0  # bytes
        self._entered = 0  # the number of logged reads that are in _last_read_times
        self._last_read_times: np.ndarray | None = None  # time of each unit's last logged read

    def refine(self, factor: int) -> None:
        """Split each unit into ``factor`` smaller units, which inherit its words.

        The log of reads is emptied.
        """
        self.writer, self.reader = self.writer.repeat(factor), self.reader.repeat(factor)
        self.readers_lanes = self.readers_lanes.repeat(factor)
        self._forget_log()  # views are made before they are read, so nothing is lost
        self._last_read_times = self._complete_at = None

    def check_load(self, access: Access, units: np.ndarray, initialised: bool) -> None:
        """Report races with unordered writes and reads of unwritten units, and log the load.

        ``units`` holds the unit that each active lane loads. If ``initialised`` is True, unwritten
        units have content and may be read. A load that only decides whether an atomic is tried is
        not logged, and its races with atomics are reported as warnings.
        """
        examine = self.written or not initialised
        if examine and not self._settled(access, self.last_write, initialised):
            writers = self.writer.take(units)
            unordered = self._unordered(access, writers, initialised)
            if unordered is not None:
                unwritten = writers == NEVER
                if not initialised and unwritten.any():
                    report_uninitialised(access, self.name, unwritten)
                race = unordered & self._by_others(access, writers)
                if access.before_atomic:
                    stale = race & ((writers & ATOMIC) != 0)
                    self._report_stale_read(access, stale, writers)
                    race &= ~stale
                self._report_race(access, race, writers)
        if not access.before_atomic:
            self.log_read(access, units)
        # Else it may race with atomics; a store that races with it also meets the atomics.

    def log_read(self, access: Access, units: np.ndarray) -> None:
        """Add a load of ``units``, one per active lane, to the log of reads.

        The log is flushed into the reader words once it holds READ_LOG_BYTES.
        """
        self._reads.append((units, access))
        self._logged += units.nbytes
        if self._logged >= READ_LOG_BYTES:
            self.flush_reads(access.clock)

    def _settled(self, access: Access, last: int, initialised: bool) -> bool:
        """Return True if the latest barrier of all blocks came after the time ``last``.

        Then no access up to ``last`` can race with this one, so the caller need not examine the
        words. The result is always False in global memory, while blocks differ in their latest
        barrier, and if ``initialised`` is False and a unit was never written.
        """
        barrier = access.clock.last_barrier
        if self.space != "shared" or not isinstance(barrier, int) or last >= barrier:
            return False
        return initialised or self._all_written()

    def _all_written(self) -> bool:
        """Return True if every unit has been written at least once."""
        if not self._complete and self._complete_at != self.last_write:
            self._complete_at = self.last_write
            self._complete = not (self.writer == NEVER).any()
        return self._complete

    def check_store(self, access: Access, units: np.ndarray, changed: np.ndarray) -> None:
        """Report races of a store with unordered accesses of other threads, and record the store.

        ``units`` and ``changed`` have one entry per active lane. ``changed`` is True if the lane
        stores another value than the present one; otherwise its store does not race with an earlier
        write.
        """
        self._note_met_reads(access, units)
        unordered = None
        if self.written and not self._settled(access, self.last_write, initialised=True):
            writers = self.writer.take(units)
            unordered = self._unordered(access, writers)
            if unordered is not None:
                race = unordered & changed & self._by_others(access, writers)
                self._report_race(access, race, writers)
        self._check_readers(access, units)
        self._note_writers(access, units, contested=unordered is not None)

    def note_store(self, access: Access, units: np.ndarray) -> None:
        """Record a store of ``units``, one per active lane, without a check for races."""
        self._note_writers(access, units, contested=False)

    def overwrite(self, units: np.ndarray, stamps: np.ndarray, last: int) -> None:
        """Record stores by one thread, one after another, which no other thread can race with.

        ``units`` and ``stamps`` have one entry per store, in the order of the stores. ``last`` is
        the time of the last one.
        """
        self.writer[units] = stamps
        self.written, self.last_write = True, last

    def check_update(self, access: Access, units: np.ndarray, initialised: bool) -> None:
        """Report races of an atomic with unordered plain accesses, and record the atomic.

        ``units`` holds the unit of each active lane. If ``initialised`` is False, units that no
        thread has written are reported, too.
        """
        self._note_met_reads(access, units)
        writers = self.writer.take(units)
        unordered = self._unordered(access, writers, initialised)
        if unordered is not None:
            unwritten = writers == NEVER
            if not initialised and unwritten.any():
                report_uninitialised(access, self.name, unwritten)
            race = unordered & ((writers & ATOMIC) == 0) & self._by_others(access, writers)
            self._report_race(access, race, writers)
        self._check_readers(access, units)
        self._note(self.writer, units, access.stamps, access.clock)
        self.writer[units] |= ATOMIC
        self.written, self.last_write = True, access.time

    def report_lost_write(self, access: Access, units: np.ndarray, lost: np.ndarray) -> None:
        """Report a race of the lanes whose value another lane of the same store has overwritten.

        ``units`` holds the unit, and ``lost`` one bool, per active lane.
        """
        self._report_race(access, lost, self.writer.take(units))

    def _check_readers(self, access: Access, units: np.ndarray) -> None:
        """Report races of a store or atomic with unordered earlier reads by other threads.

        ``units`` holds the unit of each active lane. Reads that are still in the log are not
        considered.
        """
        if self._settled(access, self._last_noted_read, initialised=True):
            return
        readers = self.reader.take(units)
        unordered = self._unordered(access, readers)
        if unordered is not None:
            race = unordered & self._by_others(access, readers, self.readers_lanes.take(units))
            self._report_race(access, race, readers, "read")

    def _note_writers(self, access: Access, units: np.ndarray, contested: bool) -> None:
        """Record a store in the writer words of ``units``.

        If ``contested`` is True, some earlier writes are not ordered before the store by a barrier,
        so flags that tell of several writers are kept. Otherwise the store replaces them.
        """
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

    def _unordered(
        self, access: Access, words: np.ndarray, initialised: bool = True
    ) -> np.ndarray | None:
        """Return a bool per shadow word: True if no barrier orders its access before this one.

        In global memory, a barrier does not order accesses of another block. Units that were never
        touched count as unordered. The result is None if barriers order all words, or if all units
        are in global memory, ``initialised`` is True and no other thread has touched them.
        """
        is_global = self.space == "global"
        if is_global and initialised and _are_own(words, access.stamps):
            return None
        unordered = (words & TIME_MASK) >= access.last_barrier
        if is_global:  # a barrier orders one block only
            width = access.clock.batch.width
            blocks = ((words & STAMP_MASK) >> TIME_BITS) // width
            unordered |= blocks != (access.stamps >> TIME_BITS) // width
            unordered |= (words & SEVERAL_BLOCKS) != 0
        return unordered if unordered.any() else None

    def _by_others(self, access: Access, words: np.ndarray, lanes=None) -> np.ndarray:
        """Return a bool per shadow word: True if only a block barrier could order its access.

        That is so if another thread made the access, and no syncwarp, grid barrier, fence or atomic
        orders it before this one. For reader words, ``lanes`` holds, as bits, the lanes of one warp
        that share the word.
        """
        other = ((words ^ access.stamps) & STAMP_MASK) >> TIME_BITS != 0
        other |= (words & (SEVERAL_THREADS | SEVERAL_WARPS | SEVERAL_BLOCKS)) != 0
        other &= words != NEVER
        indices = other.nonzero()[0]
        if indices.size:  # rare, so the finer kinds of order are examined here only
            shared = None if lanes is None else lanes[indices]
            few = words[indices], access.stamps[indices], shared
            other[indices] = ~self._ordered_otherwise(access.clock, *few)
        return other

    def _ordered_otherwise(self, clock: Clock, words, stamps, lanes) -> np.ndarray:
        """Return a bool per word: True if its access is ordered before that of ``stamps``.

        The order comes from a syncwarp, a grid barrier, or fences and atomics. ``stamps`` has one
        entry per word. ``lanes`` holds, as bits per reader word, the lanes of one warp that share
        the word; it is None for writer words.
        """
        ordered = _met_in_warp(words, stamps, clock, lanes)
        ordered &= (words & (SEVERAL_WARPS | SEVERAL_BLOCKS)) == 0
        who, when, me = (words & STAMP_MASK) >> TIME_BITS, words & TIME_MASK, stamps >> TIME_BITS
        same_block = who // clock.batch.width == me // clock.batch.width
        ordered |= same_block & clock.releases.order_threads(who, when, me)
        # Of several threads only the last is known. If that is in this block, the others count as
        # ordered if they may have released: a correct kernel must not be accused.
        several = same_block & ((words & (SEVERAL_THREADS | SEVERAL_WARPS)) != 0)
        ordered |= several & clock.releases.may_follow_threads(me)
        if self.space == "global":
            ordered |= self._ordered_in_grid(clock, words, stamps, same_block)
        return ordered

    @staticmethod
    def _ordered_in_grid(clock: Clock, words, stamps, same_block: np.ndarray) -> np.ndarray:
        """Return a bool per word: True if its access is ordered before that of ``stamps``.

        The order comes from a grid barrier, or from fences and atomics of two blocks. ``stamps``
        has one entry per word. ``same_block`` has one bool per word: True if both threads are of
        one block.
        """
        who, when, me = (words & STAMP_MASK) >> TIME_BITS, words & TIME_MASK, stamps >> TIME_BITS
        first, barriers = clock.batch.numbers[0], clock.barrier_of(stamps)
        ordered = (who >= first) & (when < clock.last_grid_barrier)
        ordered |= ~same_block & clock.releases.order_blocks(who, when, me, barriers, first)
        several = same_block & ((words & SEVERAL_BLOCKS) != 0)
        return ordered | several & clock.releases.may_follow_blocks(me, barriers)

    def flush_reads(self, clock: Clock) -> None:
        """Move the logged reads into the reader words, and empty the log.

        In shared memory, reads before a barrier of all blocks can be dropped. Most of them are,
        which is why there is a log.
        """
        reads = self._reads
        self._forget_log()
        for units, access in reads:
            if not self._settled(access, access.time, initialised=True):
                self._note(self.reader, units, access.stamps, clock)
                self._last_noted_read = access.time

    def _note_met_reads(self, access: Access, units: np.ndarray) -> None:
        """Move all logged reads into the reader words if one of them may have touched these units.

        With double buffering no read has, so the log is emptied at the next barrier instead.
        """
        if self._reads and not self._surely_unread(access, units):
            self.flush_reads(access.clock)

    def _surely_unread(self, access: Access, units: np.ndarray) -> bool:
        """Return True if no logged read of these units can race with this access.

        The log is emptied if a barrier orders all of its reads before the access. The result is
        False in global memory, and while blocks differ in their latest barrier.
        """
        if self.space != "shared" or not isinstance(access.clock.last_barrier, int):
            return False
        if self._settled(access, self._reads[-1][1].time, initialised=True):
            self._forget_log()
            return True
        if self._last_read_times is None:
            self._last_read_times = np.full(self.reader.size, NEVER, np.int64)
        for read_units, earlier in self._reads[self._entered :]:
            self._last_read_times[read_units] = earlier.time
        self._entered = len(self._reads)
        return self._settled(access, int(self._last_read_times.take(units).max()), initialised=True)

    def _forget_log(self) -> None:
        """Empty the log of reads without moving them into the reader words."""
        self._reads, self._logged, self._entered = [], 0, 0

    def _note(self, shadow: np.ndarray, units, stamps, clock: Clock) -> None:
        """Record one access in ``shadow``, which is the writer or the reader words.

        Each unit gets the stamp of a lane that touches it. Flags are set if several threads, warps
        or blocks touch the unit now, or touched it earlier without a barrier between.
        """
        before = shadow.take(units)
        shadow[units] = stamps
        latest, touched = shadow.take(units), before != NEVER
        recent = touched & ((before & TIME_MASK) >= clock.barrier_of(stamps))
        is_free = not recent.any() if self.space == "shared" else _are_own(before, stamps)
        alone = bool((latest == stamps).all())  # no two lanes touch one unit
        if is_free and alone:
            if shadow is self.reader:
                self.readers_lanes[units] = _lane_bits(stamps)
            return
        flags = np.zeros(len(stamps), np.int64) if alone else _distance(latest, stamps, clock)
        if touched.any():
            distance = _distance(before, stamps, clock) | (before & FLAGS)
            recent &= ~_met_in_warp(before, stamps, clock) | (distance >= SEVERAL_WARPS)
            lasting = np.where(recent, ~0, SEVERAL_BLOCKS)  # a barrier orders one block
            flags |= np.where(touched, distance & lasting, 0)
        marked = flags != 0
        if marked.any():
            np.bitwise_or.at(shadow, units[marked], flags[marked])
        if shadow is self.reader:
            self._note_lanes(units, stamps, recent)

    def _note_lanes(self, units: np.ndarray, stamps: np.ndarray, recent: np.ndarray) -> None:
        """Set the bits of the reading lanes in ``readers_lanes`` at ``units``.

        Where ``recent`` is False, the bits of earlier readers are cleared first.
        """
        self.readers_lanes[units[~recent]] = 0
        np.bitwise_or.at(self.readers_lanes, units, _lane_bits(stamps))

    def _report_race(
        self, access: Access, where: np.ndarray, words: np.ndarray, verb: str = "written"
    ) -> None:
        """Report a race of the active lanes in ``where`` with the accesses of the shadow ``words``.

        ``where`` and ``words`` have one entry per active lane. ``verb`` says what the earlier
        access did.
        """
        if where.any():
            flaw = Flaw(
                "race", access.site, self.name, access.numbers(where),
                of_several_warps=_of_several_warps(access, where, words),
            )  # fmt: skip
            access.clock.report.add(flaw, lambda: self._race(access, where, words, verb))

    def _report_stale_read(self, access: Access, where: np.ndarray, words: np.ndarray) -> None:
        """Report, as a warning, the lanes in ``where`` whose plain load races with an atomic.

        ``where`` and the shadow ``words`` have one entry per active lane.
        """
        if where.any():
            flaw = Flaw(
                "stale_read", access.site, self.name, access.numbers(where),
                of_several_warps=_of_several_warps(access, where, words),
            )  # fmt: skip
            access.clock.report.add(flaw, lambda: self._stale_read(access, where, words))

    def _stale_read(self, access: Access, where: np.ndarray, words: np.ndarray) -> Finding:
        """Return the Finding, a warning, of a stale read by the first lane in ``where``.

        A stale read is a plain load that races with an atomic and only decides whether another
        atomic is tried. ``words`` holds the shadow word of the earlier atomic per active lane.
        """
        race = self._race(access, where, words, "updated")
        return replace(
            race, kind="stale_read",
            message=f"{race.message} The atomic that follows looks at it once more.",
        )  # fmt: skip

    def _race(self, access: Access, where: np.ndarray, words: np.ndarray, verb: str) -> Finding:
        """Return the Finding of a race by the first lane in ``where``.

        The other thread and its line are those of the lane's entry in ``words``. ``verb`` says what
        the other access did, such as "written".
        """
        position = int(np.flatnonzero(where)[0])
        word = int(words[position]) & STAMP_MASK
        clock = access.clock
        thread = access.thread(position)
        other = thread_by_number(clock.batch.geometry, word >> TIME_BITS)
        site = access.site if word & TIME_MASK == access.time else self._other_site(word, clock)
        element = access.locate(position)
        who = f"which {other}" if other != thread else "which another thread"
        place = _location(site, access.site) if site else ""
        wait = clock.waits.get(word & TIME_MASK) if site else None
        if wait:  # of the other thread for its asynchronous copy
            verb, place = "copied", f"{place} and waited for{_location(wait, access.site)}"
        return Finding(
            "race", access.site, self.name, element, (thread, other), int(where.sum()),
            f"{thread} {access.verb} {self.name}{list(element)}, {who} has {verb}{place}"
            f"{_why_unordered(thread, other)}",
            other_line=site.line if site else None,
        )  # fmt: skip

    @staticmethod
    def _other_site(word: int, clock: Clock) -> Site | None:
        """Return the site of the access in a shadow word, or None if it was in an earlier batch."""
        if word >> TIME_BITS < clock.batch.numbers[0]:
            return None  # an earlier batch's access: its clock is gone, its thread is known
        return clock.sites[word & TIME_MASK]


def _location(site: Site, own_site: Site) -> str:
    """Return the position of the other access, such as " at line 12".

    If it is in another file than ``own_site``, the source text of the line follows its number.
    """
    return f" at line {site.line}" if site.file == own_site.file else f" at {site}"


def _why_unordered(thread: Thread, other: Thread) -> str:
    """Return the end of a race's message: why nothing orders the accesses of these two threads.

    It is "; nothing orders these two blocks." for threads of different blocks, otherwise
    NO_SYNCWARP.
    """
    if thread.block != other.block:
        return "; nothing orders these two blocks."
    return NO_SYNCWARP  # the report replaces it once the race is between several warps


def _of_several_warps(access: Access, where: np.ndarray, words: np.ndarray) -> bool:
    """Return True if a lane in ``where`` races with an access of another warp.

    ``words`` holds the shadow word of the earlier accesses per lane.
    """
    flags = _distance(words[where], access.stamps[where], access.clock) | words[where]
    return bool((flags & (SEVERAL_WARPS | SEVERAL_BLOCKS)).any())


def report_uninitialised(access: Access, name: str, where: np.ndarray) -> None:
    """Report the lanes that read an element of array ``name`` that no thread has written.

    ``where`` holds one bool per active lane.
    """

    def describe() -> Finding:
        position = int(np.flatnonzero(where)[0])
        thread, element = access.thread(position), access.locate(position)
        return Finding(
            "uninitialised", access.site, name, element, (thread,), int(where.sum()),
            f"{thread} reads {name}{list(element)}, which no thread has written.",
        )  # fmt: skip

    flaw = Flaw("uninitialised", access.site, name, access.numbers(where))
    access.clock.report.add(flaw, describe)


def ordered_after(words: np.ndarray, me, barrier, space: str, width: int) -> np.ndarray:
    """Return a bool per shadow word: True if its access surely is ordered before one of ``me``.

    That is so if the same thread made it, if a block barrier lies between, or if the word has no
    access. ``me`` is the launch-wide number of a thread, and ``barrier`` the time of its latest
    barrier; each is one number, or one per word. ``width`` is the number of lanes of a block.
    """
    earlier = (words & TIME_MASK) < barrier
    if space == "global":  # a barrier orders one block only
        earlier &= ((words & STAMP_MASK) >> TIME_BITS) // width == me // width
        earlier &= (words & SEVERAL_BLOCKS) == 0
    return earlier | (words >> TIME_BITS == me) | (words == NEVER)


def _are_own(words: np.ndarray, stamps: np.ndarray) -> bool:
    """Return True if each unit was touched by the thread of its stamp alone, or by no thread."""
    others = (words ^ stamps) >> TIME_BITS
    return not others.any() or not others[words != NEVER].any()


def _lane_bits(stamps: np.ndarray) -> np.ndarray:
    """Return a uint32 per stamp in which only the bit of the thread's lane in its warp is set."""
    return np.uint32(1) << ((stamps >> TIME_BITS) % WARP).astype(np.uint32)


def _distance(words: np.ndarray, stamps: np.ndarray, clock: Clock) -> np.ndarray:
    """Return flags per pair of a word and a stamp; 0 if both are of the same thread.

    The flags are SEVERAL_THREADS, SEVERAL_WARPS and SEVERAL_BLOCKS, each set if the two differ in
    thread, warp or block.
    """
    first, second = (words & STAMP_MASK) >> TIME_BITS, stamps >> TIME_BITS
    width = clock.batch.width
    flags = np.where(first != second, SEVERAL_THREADS, 0)
    flags |= np.where(first // WARP != second // WARP, SEVERAL_WARPS, 0)
    flags |= np.where(first // width != second // width, SEVERAL_BLOCKS, 0)
    return flags


def _met_in_warp(words, stamps, clock: Clock, lanes: np.ndarray | None = None) -> np.ndarray:
    """Return a bool per word: True if both threads passed a syncwarp since the word's access.

    It is False if the threads of the word and of the stamp are in different warps. ``lanes`` holds,
    as bits, all lanes that made the earlier access; each of them must have passed the syncwarp.
    """
    who, when, me = (words & STAMP_MASK) >> TIME_BITS, words & TIME_MASK, stamps >> TIME_BITS
    first, last = clock.batch.numbers[0], clock.batch.size - 1
    lane = np.clip(who - first, 0, last)  # a thread of another batch fails the warp test below
    met = np.minimum(clock.last_warp_sync[lane], clock.last_warp_sync[me - first]) > when
    met &= who // WARP == me // WARP
    if lanes is not None and met.any():
        syncs = clock.last_warp_sync.reshape(-1, WARP)[lane // WARP]
        absent = (lanes[:, None] >> np.arange(WARP, dtype=np.uint32)) & 1 == 0
        met &= (absent | (syncs > when[:, None])).all(axis=1)
    return met
