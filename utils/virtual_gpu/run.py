"""What the closures of a kernel share while one batch of blocks runs."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable

import numpy as np

from .clock import Clock
from .counters import Counters
from .errors import Finding, Site, VirtualGpuError
from .lanes import Batch, Mask
from .shared import SharedMemory
from .source import Source

MAX_ROUNDS = int(os.environ.get("VIRTUAL_GPU_MAX_ROUNDS", 1 << 18))


class Run:
    """A batch of blocks on its way through a kernel: who is still in it, and who has met whom."""

    def __init__(
        self, batch: Batch, clock: Clock, counters: Counters | None, shared: SharedMemory
    ):
        self.batch = batch
        self.clock = clock
        self.report = clock.report
        self.counters = counters
        self.shared = shared
        self.live: Mask | None = batch.everyone  # the lanes that have not left the kernel
        self.copies: list[list[Callable]] = [[]]  # groups of asynchronous copies; the last is open
        self._rounds = 0
        self._unmet: list[tuple[Finding, np.ndarray]] = []

    def expect(self, finding: Finding, absent: np.ndarray) -> None:
        """Lanes that a syncwarp names are absent. It is a flaw unless they leave the kernel without
        meeting anybody again: hardware lets the others go on then."""
        self._unmet.append((finding, absent))

    def meet(self, mask: Mask) -> None:
        """These lanes have come to a barrier, a shuffle or a vote."""
        unmet, self._unmet = self._unmet, []
        for finding, absent in unmet:
            if (absent & mask.lanes).any():
                self.report.add(finding)
            else:
                self._unmet.append((finding, absent))

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
        if not split.any() or self.report.knows("barrier", site, ""):
            return
        block = int(np.flatnonzero(split)[0])
        absent = (self.live.lanes & ~mask.lanes).reshape(shape)[block]
        thread = self.batch.thread(int(np.flatnonzero(absent)[0]) + block * self.batch.width)
        self.report.add(Finding(
            "barrier", site, "", (), (thread,), int(split.sum()),
            f"{here[block]} of the {alive[block]} live threads of block "
            f"{thread.block} reach this barrier; {thread} does not.",
        ))  # fmt: skip

    def grid_barrier(self, mask: Mask, site: Site) -> None:
        """All live threads of the grid must be here."""
        if mask.count != self.live.count:
            absent = np.flatnonzero(self.live.lanes & ~mask.lanes)
            thread = self.batch.thread(int(absent[0]))
            self.report.add(Finding(
                "barrier", site, "", (), (thread,), self.live.count - mask.count,
                f"{mask.count} of the grid's {self.live.count} live threads reach this barrier; "
                f"{thread} does not.",
            ))  # fmt: skip
        self.clock.grid_barrier()
        if self.counters:
            self.counters.barrier(mask, site)

    def count_round(self, source: Source, node: ast.AST) -> None:
        """An endless loop is an error, never a hang."""
        self._rounds += 1
        if self._rounds > MAX_ROUNDS:
            raise VirtualGpuError(
                f"{source.name}, {source.site(node)}: more than {MAX_ROUNDS} rounds of its loops; "
                "does the loop end for every thread? If so, set VIRTUAL_GPU_MAX_ROUNDS higher."
            )
