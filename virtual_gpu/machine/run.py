"""The state that the closures of a kernel share while one batch of blocks runs."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from types import MappingProxyType

import numpy as np

from ..checks.clock import Clock
from ..checks.report import Flaw
from ..checks.stale import Fills
from ..common.errors import Finding, LimitReached, Site
from ..common.lanes import Batch, Mask, VectorCache
from ..common.source import Source
from ..counts.counters import Counters
from ..memory.filling import Filling
from ..memory.memory import ArrayView, Memory
from ..memory.shared import SharedMemory
from .async_copies import AsyncCopies
from .change import Change
from .open_syncwarps import OpenSyncwarps
from .watch import Watch


class BatchRun:
    """The execution of a kernel by one batch of blocks, with the lanes that are still live.

    ``clock``, ``report``, ``counters`` and ``watch`` check, count and limit its accesses;
    ``counters`` is None if nothing is counted. ``shared`` is the shared memory of the blocks, and
    ``filling`` the content of undefined elements. ``copies`` holds the asynchronous copies that
    have not ended, ``fills`` the lines that fill shared arrays, and ``syncwarps`` the syncwarps
    that wait for lanes. ``abandoned`` counts, for a part of the kernel, how often its lanes were
    run one by one in vain. ``positions``, ``products`` and ``sums`` cache vectors.
    """

    def __init__(
        self,
        batch: Batch,
        clock: Clock,
        counters: Counters | None,
        shared: SharedMemory,
        memories: Iterable[Memory],
        watch: Watch,
        filling: Filling,
        device_arrays: Mapping[int, ArrayView] = MappingProxyType({}),
        change: Change | None = None,
    ):
        """Begin the run of a batch: no lane has left the kernel, and no copy is in flight.

        ``device_arrays`` maps the ``id`` of each global device array to its view. ``change`` is a
        change of what threads get from shared memory or by shuffles; None changes nothing.
        """
        self.batch = batch
        self.clock = clock
        self.report = clock.report
        self.counters = counters
        self.shared = shared
        self.watch = watch
        self.filling = filling
        self.device_arrays = device_arrays
        self.change = change
        self.positions, self.products, self.sums = VectorCache(), VectorCache(), VectorCache()
        self._memories = memories
        self.live: Mask | None = batch.everyone  # lanes that have not left the kernel
        self.copies = AsyncCopies(batch)
        self.fills = Fills(batch, frozenset(memory.name for memory in memories))
        self.syncwarps = OpenSyncwarps(batch, clock.report)
        self.abandoned: dict[object, int] = {}  # how often lanes were run one by one in vain

    @property
    def memories(self) -> list[Memory]:
        """A list of all memory that the kernel can change, except threads' private arrays."""
        return [*self._memories, *self.shared.memories]

    def record(self, kind: str, mask: Mask, site: Site, values=None, sources=None) -> None:
        """Record a warp function or a fence if the launch has a recorder, and do nothing otherwise.

        ``kind`` is "syncwarp", "shuffle", "vote", "match", "fence" or "fence_block". ``values``
        (the results) and ``sources`` (the lanes that are read) have one entry per lane of the
        batch.
        """
        if self.counters and self.counters.recorder:
            self.counters.recorder.meeting(kind, mask, site, values, sources)

    def barrier(self, mask: Mask, site: Site) -> None:
        """Execute a block barrier of the lanes in ``mask``.

        Blocks of which only some live threads have arrived are reported, which raises BarrierError
        unless findings are collected.
        """
        self.syncwarps.meet(mask, site)
        everyone = mask.count == self.live.count
        if not everyone:
            self._check_whole_blocks(mask, site)
        self.clock.barrier(mask, everyone)
        if self.counters:
            self.counters.barrier(mask, site)

    def _check_whole_blocks(self, mask: Mask, site: Site) -> None:
        """Report the blocks of which only some live threads are in the mask of a barrier."""
        shape = (self.batch.blocks, self.batch.width)
        arrived = mask.lanes.reshape(shape).sum(axis=1)
        alive = self.live.lanes.reshape(shape).sum(axis=1)
        split = (arrived > 0) & (arrived < alive)
        if not split.any():
            return
        absent = np.flatnonzero(self.live.lanes & ~mask.lanes & split.repeat(self.batch.width))

        def describe() -> Finding:
            block = int(np.flatnonzero(split)[0])
            present = f"{arrived[block]} of the {alive[block]} live threads"
            thread = self.batch.thread(int(absent[0]))
            return Finding(
                "barrier", site, "", (), (thread,), int(split.sum()),
                f"{present} of a block reach this barrier; {thread} does not.",
            )  # fmt: skip

        self.report.add(Flaw("barrier", site, "", self.batch.numbers[absent]), describe)

    def grid_barrier(self, mask: Mask, site: Site) -> None:
        """Execute a barrier of the whole grid by the lanes in ``mask``.

        The barrier is reported unless these are all live lanes, which raises BarrierError unless
        findings are collected.
        """
        if mask.count != self.live.count:
            absent = np.flatnonzero(self.live.lanes & ~mask.lanes)
            thread = self.batch.thread(int(absent[0]))
            finding = Finding(
                "barrier", site, "", (), (thread,), self.live.count - mask.count,
                f"{mask.count} of the grid's {self.live.count} live threads reach this barrier; "
                f"{thread} does not.",
            )  # fmt: skip
            flaw = Flaw("barrier", site, "", self.batch.numbers[absent])
            self.report.add(flaw, lambda: finding)
        self.clock.grid_barrier()
        if self.counters:
            self.counters.barrier(mask, site)

    def count_iteration(self, site: Site, mask: Mask | None) -> None:
        """Count one iteration of the loop at ``site`` for the lanes in ``mask``.

        Nothing is counted if ``mask`` is None or the launch has no counters.
        """
        if self.counters and mask is not None:
            self.counters.iteration(site, mask)

    def check_limits(self, source: Source, node: ast.AST, mask: Mask) -> None:
        """Count one loop iteration of these lanes; raise LimitReached if a limit is now exceeded.

        ``node`` is the loop of ``source``, whose line the error names. The limits are those of
        ``Watch.excess``: the seconds and the lane rounds of the launch.
        """
        excess = self.watch.excess(mask.count)
        if excess:
            raise LimitReached(f"{source.name}, {source.site(node)}: {excess}")
