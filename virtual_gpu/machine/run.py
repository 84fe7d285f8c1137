"""What the closures of a kernel share while one batch of blocks runs."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

import numpy as np

from ..checks.clock import Clock
from ..checks.report import Flaw
from ..common.errors import Finding, LimitReached, Site
from ..common.lanes import Batch, Mask, Recent
from ..common.source import Source
from ..counts.counters import Counters
from ..memory.filling import Filling
from ..memory.memory import Memory
from ..memory.shared import SharedMemory
from .watch import Watch


class Run:
    """A batch of blocks on its way through a kernel: who is still in it, and who has met whom."""

    def __init__(
        self,
        batch: Batch,
        clock: Clock,
        counters: Counters | None,
        shared: SharedMemory,
        memories: Iterable[Memory],
        watch: Watch,
        filling: Filling,
    ):
        self.batch = batch
        self.clock = clock
        self.report = clock.report
        self.counters = counters
        self.shared = shared
        self.watch = watch
        self.filling = filling
        self.positions, self.products, self.sums = Recent(), Recent(), Recent()
        self._memories = memories
        self.live: Mask | None = batch.everyone  # the lanes that have not left the kernel
        self.copies: list[list[Callable]] = [[]]  # groups of asynchronous copies; the last is open
        self._unmet: list[tuple[Flaw, Callable[[], Finding], np.ndarray]] = []

    @property
    def memories(self) -> list[Memory]:
        """All memory that the kernel can change, but for the private arrays of threads."""
        return [*self._memories, *self.shared.memories]

    def expect(self, flaw: Flaw, describe: Callable[[], Finding], absent: np.ndarray) -> None:
        """Lanes that a syncwarp names are absent. It is a flaw unless they leave the kernel without
        meeting anybody again: hardware lets the others go on then."""
        self._unmet.append((flaw, describe, absent))

    def meet(self, mask: Mask) -> None:
        """These lanes have come to a barrier, a shuffle or a vote."""
        unmet, self._unmet = self._unmet, []
        for flaw, describe, absent in unmet:
            if (absent & mask.lanes).any():
                self.report.add(flaw, describe)
            else:
                self._unmet.append((flaw, describe, absent))

    def record(self, kind: str, mask: Mask, site: Site, values=None, sources=None) -> None:
        """A shuffle or vote for the recorder; values and lanes to read from, one per lane."""
        if self.counters and self.counters.recorder:
            self.counters.recorder.meeting(kind, mask, site, values, sources)

    def barrier(self, mask: Mask, site: Site) -> None:
        """All live threads of a block must be here, or none of them."""
        self.meet(mask)
        everyone = mask.count == self.live.count
        if not everyone:
            self._check_whole_blocks(mask, site)
        self.clock.barrier(mask, everyone)
        if self.counters:
            self.counters.barrier(mask, site)

    def _check_whole_blocks(self, mask: Mask, site: Site) -> None:
        shape = (self.batch.blocks, self.batch.width)
        here = mask.lanes.reshape(shape).sum(axis=1)
        alive = self.live.lanes.reshape(shape).sum(axis=1)
        split = (here > 0) & (here < alive)
        if not split.any():
            return
        absent = np.flatnonzero(self.live.lanes & ~mask.lanes & split.repeat(self.batch.width))

        def describe() -> Finding:
            block = int(np.flatnonzero(split)[0])
            thread = self.batch.thread(int(absent[0]))
            return Finding(
                "barrier", site, "", (), (thread,), int(split.sum()),
                f"{here[block]} of the {alive[block]} live threads of a block reach this barrier; "
                f"{thread} does not.",
            )  # fmt: skip

        self.report.add(Flaw("barrier", site, "", self.batch.numbers[absent]), describe)

    def grid_barrier(self, mask: Mask, site: Site) -> None:
        """All live threads of the grid must be here."""
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

    def count_turn(self, site: Site, mask: Mask | None) -> None:
        """These lanes, if any, make a turn of a loop: its test let them in."""
        if self.counters and mask is not None:
            self.counters.turn(site, mask)

    def count_round(self, source: Source, node: ast.AST, mask: Mask) -> None:
        """These lanes begin a round of a loop: time passes, and a launch may take too long."""
        excess = self.watch.excess(mask.count)
        if excess:
            raise LimitReached(f"{source.name}, {source.site(node)}: {excess}")
