"""Counts of memory requests, sectors and wavefronts by source line, in the profiler's units.

transactions.py defines these units.
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
from .transactions import (
    BANK_BYTES,
    COPY_ASYNC,
    LDMATRIX,
    SECTOR_BYTES,
    GlobalCost,
    LaneTransfer,
    Pattern,
    SharedCost,
)

COUNTED_SPACES = ("global", "shared")
KEPT_REQUESTS = 64  # of each access, for hints and pictures
KEPT_COSTS = 512  # costs in the cache
KEPT_LANES = 1024  # a pattern with more lanes is counted anew each time
EXAMINED_STORES = 8  # executions of each line, in which stores to one element are counted


@dataclass(frozen=True)
class WarpAccess:
    """The byte addresses of one warp at the first execution of an access, to be drawn.

    ``space`` is "global" or "shared", and ``itemsize`` the bytes per lane. ``addresses`` has a byte
    address within the allocation per lane, or None for an inactive lane. ``array`` is the array's
    name, and ``kind`` "load", "store" or "atomic".
    """

    array: str
    space: str  # "global" or "shared"
    kind: str  # "load" or "store"
    itemsize: int
    addresses: tuple[int | None, ...]  # byte address per lane within the allocation; None: inactive


@dataclass
class LineCount:
    """The counts of one source line, summed over the whole launch.

    ``warps`` is the number of memory instructions, counted once per warp, and ``lanes`` the number
    of active lanes in them. Loads and stores have requests, each of a whole warp, and their 32-byte
    sectors in global memory or wavefronts in shared memory. Bytes are those that lanes requested.
    ``float32_ops`` and ``float64_ops`` are operations of these types, counted per lane.
    ``barriers`` counts once per warp, and ``atomics`` once per lane.

    ``ldmatrix`` are those of the shared load requests that ``ldmatrix`` makes (LDSM), and
    ``async_copies`` those of the shared store requests that asynchronous copies make (LDGSTS), with
    the bytes that they move. ``mma`` counts multiplications of fragments, once per warp, and
    ``tensor_ops`` their floating-point operations, two for each product that they add.
    """

    warps: int = 0  # memory instructions, counted per warp
    lanes: int = 0  # active lanes in them
    global_load_requests: int = 0
    global_load_sectors: int = 0
    global_load_bytes: int = 0  # bytes that the lanes requested
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
    ldmatrix: int = 0
    async_copies: int = 0
    async_copy_bytes: int = 0
    mma: int = 0
    tensor_ops: int = 0

    def add(self, prefix: str, **amounts: int) -> None:
        """Add each amount to the field whose name is the prefix, an underscore and the keyword."""
        for name, amount in amounts.items():
            field = f"{prefix}_{name}"
            setattr(self, field, getattr(self, field) + amount)


@dataclass(slots=True)
class AccessCount:
    """The accesses of one source line to one array, by loads, by stores or by atomics.

    ``space`` is "global" or "shared", and ``kind`` is "load", "store" or "atomic". ``lanes`` and
    ``bytes`` are summed over requests and active lanes. ``used_bytes`` are the bytes of the counted
    sectors that a request accesses. ``first`` holds byte addresses by lane of the first requests,
    -1 for an inactive lane.

    Sectors and cache lines are counted for loads and stores of global memory, wavefronts for those
    of shared memory. ``fewest_sectors`` and ``fewest_wavefronts`` are the numbers that as many
    active lanes would need to access consecutive elements from an aligned address on. ``site`` is
    the source line and ``dtype`` that of the array. ``most_sectors`` is the largest number of
    sectors of one request. ``bytes_per_lane`` is the number of bytes that a lane accesses in a
    request, and ``words`` the number of 4-byte words, summed like the bytes. ``instruction`` is
    LDMATRIX, COPY_ASYNC, or the same as ``kind``. ``alignment`` is that of the Memory, in bytes.

    Of a store to global memory, the first EXAMINED_STORES executions are examined, and ``examined``
    counts them. ``crowded`` holds (active lanes, different elements) of the examined execution with
    the most lanes per element.
    """

    site: Site
    array: str
    space: str  # "global" or "shared"
    kind: str  # "load", "store" or "atomic"
    dtype: np.dtype
    bytes_per_lane: int  # per request; a complex number can take two
    instruction: str  # LDMATRIX, COPY_ASYNC, or the kind
    alignment: int | None = None  # in bytes, of a static shared array
    requests: int = 0
    lanes: int = 0  # active lanes, summed over requests
    bytes: int = 0  # requested, summed over lanes
    used_bytes: int = 0  # of the counted sectors; bytes that lanes share count once
    words: int = 0  # of 4 bytes; a smaller element counts as one word
    sectors: int = 0
    most_sectors: int = 0  # of one request
    fewest_sectors: int = 0
    cache_lines: int = 0  # of 128 bytes
    wavefronts: int = 0
    fewest_wavefronts: int = 0
    first: list[np.ndarray] = field(default_factory=list)  # byte addresses by lane, -1: inactive
    examined: int = 0  # executions in which the elements of a store were counted
    crowded: tuple[int, int] = (0, 1)  # active lanes and elements of the store with the most lanes

    @property
    def name(self) -> str:
        """The name of the access: ``load of x``, ``ldmatrix of tile`` or ``cp.async to tile``."""
        to = "to" if self.instruction == COPY_ASYNC else "of"
        return f"{self.instruction} {to} {self.array}"

    def note_elements(self, lanes: int, elements: int) -> None:
        """Count one examined execution of a store; keep its numbers if they are the most crowded.

        ``lanes`` is the number of active lanes, and ``elements`` that of different elements.
        """
        self.examined += 1
        if lanes * self.crowded[1] > self.crowded[0] * elements:
            self.crowded = (lanes, elements)

    def add_to(self, line: LineCount) -> None:
        """Add these counts to ``line``, the totals of the source line.

        Requests are added to ``warps`` and lanes to ``lanes``. A load or store also adds its
        requests, and its sectors and bytes or its wavefronts, to the fields of its space and kind;
        an atomic adds its lanes to ``atomics``. An ``ldmatrix`` adds its requests to ``ldmatrix``,
        too, and an asynchronous copy its requests and bytes to ``async_copies`` and
        ``async_copy_bytes``.
        """
        line.warps += self.requests
        line.lanes += self.lanes
        prefix = f"{self.space}_{self.kind}"
        if self.kind == "atomic":
            line.atomics += self.lanes
        elif self.space == "global":
            line.add(prefix, requests=self.requests, sectors=self.sectors, bytes=self.bytes)
        else:
            line.add(prefix, requests=self.requests, wavefronts=self.wavefronts)
        if self.instruction == LDMATRIX:
            line.ldmatrix += self.requests
        elif self.instruction == COPY_ASYNC:
            line.async_copies += self.requests
            line.async_copy_bytes += self.bytes


@dataclass(slots=True)
class OperationCount:
    """The arithmetic operations of one source line, counted per lane, and barriers, per warp.

    ``float32_ops`` and ``float64_ops`` are the operations of these types. ``mma`` counts the
    multiplications of fragments per warp, and ``tensor_ops`` their operations.
    """

    float32_ops: int = 0
    float64_ops: int = 0
    barriers: int = 0
    mma: int = 0
    tensor_ops: int = 0


class Counters:
    """The counts of one launch, by source line and array.

    ``recorder``, if given, is passed each access and barrier, to record those of one block.
    """

    def __init__(self, recorder: Recorder | None = None) -> None:
        self.recorder = recorder
        self._accesses: dict[tuple[Site, str, str, str], AccessCount] = {}
        self._work: dict[Site, OperationCount] = defaultdict(OperationCount)
        self._iterations: dict[Site, int] = defaultdict(int)
        self._functions: dict[Callable, Source] = {}
        # Per array in global memory, a flag for each sector that was loaded or stored.
        self._touched: dict[Memory, np.ndarray] = {}
        self._storing_lane: dict[Memory, np.ndarray] = {}  # per element, scratch of one store
        self._extremes: dict[tuple[Site, str, str], tuple[int, bool]] = {}
        self._costs: dict[tuple, GlobalCost | SharedCost] = {}

    def forget(self) -> None:
        """Discard all counts and recorded events, because the launch starts again."""
        counts = self._accesses, self._work, self._iterations, self._functions, self._touched
        for table in (*counts, self._storing_lane, self._extremes):
            table.clear()
        if self.recorder:
            self.recorder.forget()

    @property
    def accesses(self) -> tuple[AccessCount, ...]:
        """An AccessCount per source line, array, kind and instruction, in order of first execution.
        """
        return tuple(self._accesses.values())

    @property
    def iterations(self) -> dict[Site, int]:
        """A dict from the site of each loop to its number of iterations, summed over threads."""
        return dict(self._iterations)

    @property
    def functions(self) -> tuple[Source, ...]:
        """The Source of the kernel and of each function that it called, in order of first calls."""
        return tuple(self._functions.values())

    def enter(self, source: Source) -> None:
        """Add a function that is called to ``functions``, unless it is there already."""
        self._functions.setdefault(source.function, source)

    @property
    def lines(self) -> dict[Site, LineCount]:
        """A dict from the Site of a source line to its LineCount.

        It has the lines that accessed global or shared memory, computed with floats, multiplied
        fragments or reached a barrier.
        """
        lines: dict[Site, LineCount] = defaultdict(LineCount)
        for access in self._accesses.values():
            access.add_to(lines[access.site])
        for site, work in self._work.items():
            line = lines[site]
            line.float32_ops, line.float64_ops = work.float32_ops, work.float64_ops
            line.barriers, line.mma, line.tensor_ops = work.barriers, work.mma, work.tensor_ops
        return dict(lines)

    @property
    def footprint_bytes(self) -> int:
        """The bytes of global memory that were loaded or stored, with each sector counted once.

        A sector counts as 32 bytes. Atomics do not count.
        """
        return SECTOR_BYTES * sum(map(int, map(np.count_nonzero, self._touched.values())))

    def access(self, transfer: LaneTransfer) -> None:
        """Count one load, store or atomic in global or shared memory, and pass it to the recorder.

        The recorder needs it before the data moves. Accesses to other memory are ignored, because
        they cost nothing here.
        """
        memory = transfer.memory
        if memory.space not in COUNTED_SPACES:
            return
        if self.recorder:
            self.recorder.access(transfer)
        key = (transfer.site, memory.name, transfer.kind, transfer.instruction)
        count = self._accesses.get(key)
        if count is None:
            count = self._accesses[key] = _new_count(transfer)
        if transfer.kind == "store" and memory.space == "global":
            self._note_elements(count, transfer)
        first = transfer.first_bytes()
        for part in range(transfer.requests_each):
            self._request(count, transfer, first + part * transfer.bytes_per_lane)

    def _request(self, count: AccessCount, transfer: LaneTransfer, first: np.ndarray) -> None:
        """Add one request of each active warp to ``count``.

        ``first`` holds the byte address at which each active lane's part of the request begins.
        Except for atomics, the sectors or wavefronts are counted, too.
        """
        mask, bytes_per_lane = transfer.mask, transfer.bytes_per_lane
        count.lanes += transfer.lanes
        count.bytes += mask.count * bytes_per_lane
        count.words += mask.count * max(1, bytes_per_lane // BANK_BYTES)
        if len(count.first) < KEPT_REQUESTS:
            _keep(count, transactions.pattern_of(transfer.in_block(first), mask.lanes))
        pattern, times = transactions.repeated(first, transfer)
        count.requests += times * pattern.requests
        if transfer.kind == "atomic":
            return
        cost = self._cost(pattern, transfer)
        if transfer.memory.space == "global":
            self._touch(transfer.memory, first // SECTOR_BYTES)
            count.used_bytes += times * cost.addresses * bytes_per_lane
            count.sectors += times * cost.sectors
            count.most_sectors = max(count.most_sectors, cost.most_sectors)
            count.cache_lines += times * cost.cache_lines
            count.fewest_sectors += times * cost.fewest_sectors
        else:
            count.wavefronts += times * cost.wavefronts
            count.fewest_wavefronts += times * cost.fewest_wavefronts

    def _cost(self, pattern: Pattern, transfer: LaneTransfer) -> GlobalCost | SharedCost:
        """Return the cost of one request of each warp of the pattern.

        The costs of small patterns are kept, because loops and batches repeat them.
        """
        if pattern.first.size > KEPT_LANES:
            return transactions.cost_of(pattern, transfer)
        how = transfer.memory.space, transfer.bytes_per_lane, transfer.pitch, transfer.pairs
        key = *how, pattern.first.tobytes(), pattern.active.tobytes()
        cost = self._costs.get(key)
        if cost is None:
            if len(self._costs) >= KEPT_COSTS:
                self._costs.clear()
            cost = self._costs[key] = transactions.cost_of(pattern, transfer)
        return cost

    def one_by_one(self, transfer: LaneTransfer, differs: bool) -> None:
        """Count several loads or stores of one lane; ``addresses`` has one entry for each of them.

        ``differs`` is True if lanes may differ in the address.
        """
        memory, addresses = transfer.memory, transfer.addresses
        if memory.space not in COUNTED_SPACES:
            return
        key = (transfer.site, memory.name, transfer.kind, transfer.instruction)
        count = self._accesses.get(key)
        if count is None:
            count = self._accesses[key] = _new_count(transfer)
        requests, size = len(addresses), transfer.bytes_per_lane
        count.requests += requests
        count.lanes += requests
        count.bytes += requests * size
        count.words += requests * max(1, size // BANK_BYTES)
        first = addresses * memory.step
        for address in transfer.in_block(first[: KEPT_REQUESTS - len(count.first)]):
            count.first.append(np.full(WARP, -1))
            count.first[-1][transfer.mask.index[0] % WARP] = address
        if memory.space == "shared":
            count.wavefronts += requests
            count.fewest_wavefronts += requests
            return
        if transfer.kind == "store" and differs:
            for _ in range(min(requests, EXAMINED_STORES - count.examined)):
                count.note_elements(1, 1)
        self._touch(memory, first // SECTOR_BYTES)
        count.used_bytes += requests * size
        count.sectors += requests
        count.most_sectors = max(count.most_sectors, 1)
        count.cache_lines += requests
        count.fewest_sectors += requests

    def _note_elements(self, count: AccessCount, transfer: LaneTransfer) -> None:
        """Count the different elements of a store, and pass their number to ``count``.

        Only the first EXAMINED_STORES executions of each store to global memory are examined, and
        none in which all lanes store to one address that is a number, not a vector.
        """
        if count.examined >= EXAMINED_STORES or not isinstance(transfer.addresses, np.ndarray):
            return
        memory, addresses = transfer.memory, transfer.addresses
        if memory not in self._storing_lane:
            self._storing_lane[memory] = np.zeros(memory.data.size, np.int32)
        scratch, lanes = self._storing_lane[memory], np.arange(len(addresses), dtype=np.int32)
        scratch[addresses] = lanes
        count.note_elements(len(addresses), int((scratch.take(addresses) == lanes).sum()))

    def extreme(self, site: Site, array: str, name: str, attempts: int, beaten: bool) -> None:
        """Count one execution of ``atomic.min`` or ``atomic.max``; ``name`` is "min" or "max".

        ``attempts`` is the number of lanes. ``beaten`` is True if all elements held 0 and no value
        could change one, because all were above 0 for "min", or below 0 for "max".
        """
        key = site, array, name
        before, always = self._extremes.get(key, (0, True))
        self._extremes[key] = before + attempts, always and beaten

    @property
    def beaten_extremes(self) -> tuple[tuple[Site, str, str, int], ...]:
        """A tuple (site, array, "min" or "max", attempts) per atomic that was beaten each time.

        ``extreme`` says when it is beaten; ``attempts`` is summed over its executions.
        """
        return tuple((*key, n) for key, (n, always) in self._extremes.items() if always)

    def _touch(self, memory: Memory, sectors: np.ndarray) -> None:
        """Mark these sectors of a memory as loaded or stored, for ``footprint_bytes``."""
        touched = self._touched.get(memory)
        if touched is None:
            # Pages of zeros cost nothing until one of their sectors is touched.
            touched = self._touched[memory] = np.zeros(memory.data.nbytes // SECTOR_BYTES + 1, bool)
        touched[sectors] = True

    def operation(self, site: Site, dtype: np.dtype, mask: Mask) -> None:
        """Count one floating-point operation per active lane.

        It counts as float64 if ``dtype`` is float64 or complex128, and otherwise as float32.
        """
        self.operations(site, dtype, mask.count)

    def operations(self, site: Site, dtype: np.dtype, number: int) -> None:
        """Count ``number`` floating-point operations whose results have this dtype.

        The types are distinguished as in ``operation``.
        """
        work = self._work[site]
        if dtype == np.float64 or dtype == np.complex128:
            work.float64_ops += number
        else:
            work.float32_ops += number

    def iteration(self, site: Site, mask: Mask) -> None:
        """Count one iteration of the loop at ``site`` per active lane."""
        self.iterations_of(site, mask.count)

    def iterations_of(self, site: Site, number: int) -> None:
        """Count ``number`` iterations of the loop at ``site``, summed over threads."""
        self._iterations[site] += number

    def barrier(self, mask: Mask, site: Site) -> None:
        """Count one barrier per warp with active lanes, and record the barrier."""
        self._work[site].barriers += mask.warps
        if self.recorder:
            self.recorder.meeting("barrier", mask, site)

    def mma(self, mask: Mask, site: Site, operations: int) -> None:
        """Count one multiplication of fragments per warp with active lanes, and record it.

        ``operations`` is the number of floating-point operations of each.
        """
        work = self._work[site]
        work.mma += mask.warps
        work.tensor_ops += mask.warps * operations
        if self.recorder:
            self.recorder.meeting("mma", mask, site)


class Uncounted(Counters):
    """Counters that count nothing, and pass on to the recorder what it records."""

    def access(self, transfer: LaneTransfer) -> None:
        """Pass an access to global or shared memory to the recorder, if there is one."""
        if self.recorder and transfer.memory.space in COUNTED_SPACES:
            self.recorder.access(transfer)

    def extreme(self, *_) -> None:
        """Do nothing; the arguments are those of ``Counters.extreme``."""

    def operation(self, *_) -> None:
        """Do nothing; the arguments are those of ``Counters.operation``."""

    def iteration(self, *_) -> None:
        """Do nothing; the arguments are those of ``Counters.iteration``."""

    def barrier(self, mask: Mask, site: Site) -> None:
        """Pass a barrier to the recorder, if there is one."""
        if self.recorder:
            self.recorder.meeting("barrier", mask, site)

    def mma(self, mask: Mask, site: Site, operations: int) -> None:
        """Pass a multiplication of fragments to the recorder, if there is one."""
        if self.recorder:
            self.recorder.meeting("mma", mask, site)


def _new_count(transfer: LaneTransfer) -> AccessCount:
    """Return an AccessCount without any count for the line, array and kind of a transfer."""
    memory = transfer.memory
    identity = (transfer.site, memory.name, memory.space, transfer.kind)
    how = transfer.bytes_per_lane, transfer.instruction, memory.alignment
    return AccessCount(*identity, memory.data.dtype, *how)


def first_access(count: AccessCount) -> WarpAccess:
    """Return the first request of an access as a WarpAccess, to be drawn.

    Its ``itemsize`` is the number of bytes per lane and request. In shared memory the addresses
    count from the start of the block's part.
    """
    addresses = tuple(None if a < 0 else int(a) for a in count.first[0])
    return WarpAccess(count.array, count.space, count.kind, count.bytes_per_lane, addresses)


def _keep(count: AccessCount, pattern: Pattern) -> None:
    """Append an array of 32 byte addresses per active warp to ``count.first``.

    The address is -1 for an inactive lane. ``count.first`` holds at most KEPT_REQUESTS arrays.
    """
    warps = np.flatnonzero(pattern.active.any(axis=1))[: KEPT_REQUESTS - len(count.first)]
    count.first.extend(np.where(pattern.active[warps], pattern.first[warps], -1))
