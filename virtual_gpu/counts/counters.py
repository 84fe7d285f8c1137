"""Counts what the memory system sees, by source line, in the profiler's units.

What requests, sectors and wavefronts are stands in transactions.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..common.errors import Site
from ..common.lanes import WARP, Mask
from ..common.source import Source
from ..memory.memory import Memory
from . import transactions
from .recorder import Recorder
from .transactions import BANK_BYTES, SECTOR_BYTES, Transfer

COUNTED_SPACES = ("global", "shared")
KEPT_REQUESTS = 64  # of each access, to be looked at and drawn


@dataclass(frozen=True)
class WarpAccess:
    """One warp's first execution of a load or store, kept to be drawn."""

    array: str
    space: str  # "global" or "shared"
    kind: str  # "load" or "store"
    itemsize: int
    addresses: tuple[int | None, ...]  # byte address per lane within the allocation; None: inactive


@dataclass
class LineCount:
    """Totals of one source line."""

    warps: int = 0  # memory instructions, counted per warp
    lanes: int = 0  # active lanes in them
    global_load_requests: int = 0
    global_load_sectors: int = 0
    global_load_bytes: int = 0  # bytes that the lanes asked for
    global_store_requests: int = 0
    global_store_sectors: int = 0
    global_store_bytes: int = 0
    shared_load_requests: int = 0
    shared_load_wavefronts: int = 0
    shared_store_requests: int = 0
    shared_store_wavefronts: int = 0
    float32_ops: int = 0
    float64_ops: int = 0
    barriers: int = 0
    atomics: int = 0  # lanes that made an atomic operation

    def add(self, prefix: str, **amounts: int) -> None:
        """Add to the counts whose names are the prefix, an underscore and the keyword."""
        for name, amount in amounts.items():
            field = f"{prefix}_{name}"
            setattr(self, field, getattr(self, field) + amount)


@dataclass(slots=True)
class AccessCount:
    """What one source line asked of one array, by loads, by stores or by atomics.

    Sectors and cache lines are counted for loads and stores of global memory, wavefronts for those
    of shared memory. ``fewest_...``: what as many active lanes would need if they asked for
    neighbouring elements from a boundary on.
    """

    site: Site
    array: str
    space: str  # "global" or "shared"
    kind: str  # "load", "store" or "atomic"
    dtype: np.dtype
    bytes_per_lane: int  # of one request; those of a complex number are two
    requests: int = 0
    lanes: int = 0  # active lanes, summed over requests
    bytes: int = 0  # asked for, each lane's
    used_bytes: int = 0  # of the sectors that are counted: what lanes share counts once
    words: int = 0  # of 4 bytes; a smaller element is a word of its own
    sectors: int = 0
    fewest_sectors: int = 0
    cache_lines: int = 0  # of 128 bytes
    wavefronts: int = 0
    fewest_wavefronts: int = 0
    first: list[np.ndarray] = field(default_factory=list)  # byte addresses by lane, -1: inactive

    def add_to(self, line: LineCount) -> None:
        """Enter these counts into the totals of their line."""
        line.warps += self.requests
        line.lanes += self.lanes
        prefix = f"{self.space}_{self.kind}"
        if self.kind == "atomic":
            line.atomics += self.lanes
        elif self.space == "global":
            line.add(prefix, requests=self.requests, sectors=self.sectors, bytes=self.bytes)
        else:
            line.add(prefix, requests=self.requests, wavefronts=self.wavefronts)


@dataclass(slots=True)
class Work:
    """What one source line did besides memory."""

    float32_ops: int = 0
    float64_ops: int = 0
    barriers: int = 0


class Counters:
    """The counts of one launch, by source line and array. ``recorder`` is told all that is counted,
    and the shuffles and votes."""

    def __init__(self, recorder: Recorder | None = None) -> None:
        self.recorder = recorder
        self._accesses: dict[tuple[Site, str, str], AccessCount] = {}
        self._work: dict[Site, Work] = defaultdict(Work)
        self._turns: dict[Site, int] = defaultdict(int)
        self._functions: dict[Callable, Source] = {}
        # For each array in global memory, which of its sectors were loaded or stored.
        self._touched: dict[Memory, np.ndarray] = {}

    def forget(self) -> None:
        """The launch begins again from the start."""
        for counts in (self._accesses, self._work, self._turns, self._functions, self._touched):
            counts.clear()
        if self.recorder:
            self.recorder.forget()

    @property
    def accesses(self) -> tuple[AccessCount, ...]:
        """The counts by line, array and kind, in the order of their first execution."""
        return tuple(self._accesses.values())

    @property
    def turns(self) -> dict[Site, int]:
        """For each loop its turns, summed over threads."""
        return dict(self._turns)

    @property
    def functions(self) -> tuple[Source, ...]:
        """The kernel and the functions that it called, in the order of their first calls."""
        return tuple(self._functions.values())

    def enter(self, source: Source) -> None:
        """A function is called."""
        self._functions.setdefault(source.function, source)

    @property
    def lines(self) -> dict[Site, LineCount]:
        """The counts by source line."""
        lines: dict[Site, LineCount] = defaultdict(LineCount)
        for access in self._accesses.values():
            access.add_to(lines[access.site])
        for site, work in self._work.items():
            line = lines[site]
            line.float32_ops, line.float64_ops = work.float32_ops, work.float64_ops
            line.barriers = work.barriers
        return dict(lines)

    @property
    def footprint_bytes(self) -> int:
        """Bytes of global memory that were loaded or stored, each sector counted once."""
        return SECTOR_BYTES * sum(int(np.count_nonzero(at)) for at in self._touched.values())

    def access(self, transfer: Transfer) -> None:
        """One load, store or atomic in global or shared memory; other spaces cost nothing."""
        memory = transfer.memory
        if memory.space not in COUNTED_SPACES:
            return
        if self.recorder:
            self.recorder.access(transfer)
        key = (transfer.site, memory.name, transfer.kind)
        count = self._accesses.get(key)
        if count is None:
            count = self._accesses[key] = _new_count(transfer)
        first = transfer.first_bytes()
        for part in range(transfer.requests_each):
            self._request(count, transfer, first + part * transfer.bytes_per_lane)

    def _request(self, count: AccessCount, transfer: Transfer, first: np.ndarray) -> None:
        """One request of each warp that takes part, from these bytes on."""
        mask, each = transfer.mask, transfer.bytes_per_lane
        count.lanes += mask.count
        count.bytes += mask.count * each
        count.words += mask.count * max(1, each // BANK_BYTES)
        if len(count.first) < KEPT_REQUESTS:
            _keep(count, transfer.in_block(first), mask.lanes.reshape(-1, WARP))
        one, times = transactions.repeated(first, transfer)
        count.requests += times * one.requests
        if transfer.kind == "atomic":
            return
        if transfer.memory.space == "global":
            self._touch(transfer.memory, mask.select(first.ravel()) // SECTOR_BYTES)
            sectors, lines, places = transactions.sectors_lines_places(one)
            count.used_bytes += times * places * each
            count.sectors += times * sectors
            count.cache_lines += times * lines
            count.fewest_sectors += times * transactions.fewest_sectors(one, transfer.pitch)
        else:
            count.wavefronts += times * transactions.wavefronts(one, each)
            count.fewest_wavefronts += times * transactions.fewest_wavefronts(one, transfer.pitch)

    def _touch(self, memory: Memory, sectors: np.ndarray) -> None:
        touched = self._touched.get(memory)
        if touched is None:
            # Pages of zeros cost nothing until one of their sectors is touched.
            touched = self._touched[memory] = np.zeros(memory.data.nbytes // SECTOR_BYTES + 1, bool)
        touched[sectors] = True

    def operation(self, site: Site, dtype: np.dtype, mask: Mask) -> None:
        """One floating-point operation in each active lane."""
        work = self._work[site]
        if dtype == np.float64 or dtype == np.complex128:
            work.float64_ops += mask.count
        else:
            work.float32_ops += mask.count

    def turn(self, site: Site, mask: Mask) -> None:
        """One turn of a loop in each active lane."""
        self._turns[site] += mask.count

    def barrier(self, mask: Mask, site: Site) -> None:
        """One barrier, counted per warp."""
        warps = int(np.count_nonzero(mask.lanes.reshape(-1, WARP).any(axis=1)))
        self._work[site].barriers += warps
        if self.recorder:
            self.recorder.meeting("barrier", mask, site)


def _new_count(transfer: Transfer) -> AccessCount:
    memory = transfer.memory
    what = (transfer.site, memory.name, memory.space, transfer.kind)
    return AccessCount(*what, memory.data.dtype, transfer.bytes_per_lane)


def first_access(count: AccessCount) -> WarpAccess:
    """The first request of an access, to be drawn."""
    addresses = tuple(None if a < 0 else int(a) for a in count.first[0])
    return WarpAccess(count.array, count.space, count.kind, count.bytes_per_lane, addresses)


def _keep(count: AccessCount, first: np.ndarray, active: np.ndarray) -> None:
    """The addresses of the first warps that take part."""
    warps = np.flatnonzero(active.any(axis=1))[: KEPT_REQUESTS - len(count.first)]
    count.first.extend(np.where(active[warps], first[warps], -1))
