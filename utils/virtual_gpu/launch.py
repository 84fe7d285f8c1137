"""A launch: checks what a device would refuse, then runs the grid batch by batch."""

from __future__ import annotations

import ast
import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from .arguments import kernel_arguments
from .clock import Clock, Releases
from .compiler import Program, compile_function
from .counters import Counters
from .errors import Finding, LaunchError, Site, VirtualGpuError
from .lanes import Batch, Geometry, Mask
from .memory import ArrayView, Memory
from .report import Report
from .shadow import Shadow
from .source import Source

MAX_THREADS = 1024
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_SHARED_BYTES = 48 * 1024
LANES_PER_BATCH = 16384
MAX_ROUNDS = int(os.environ.get("VIRTUAL_GPU_MAX_ROUNDS", 1 << 18))


class Run:
    """What the closures of a kernel share while one batch of blocks is running."""

    def __init__(self, batch: Batch, clock: Clock, counters: Counters | None, dynamic: int):
        self.batch = batch
        self.clock = clock
        self.report = clock.report
        self.counters = counters
        self.live: Mask | None = batch.everyone
        self._dynamic_bytes = dynamic
        self._static: dict[ast.AST, Memory] = {}
        self._dynamic: dict[np.dtype, Memory] = {}
        self._rounds = 0
        self._unmet: list[tuple[Finding, np.ndarray]] = []
        self.copies: list[list[Callable]] = [[]]  # groups of asynchronous copies; the last is open

    def static_shared(self, node: ast.AST, name: str, size: int, dtype: np.dtype) -> Memory:
        """The shared array of this source line: made once per block, however often it is met."""
        if node not in self._static:
            used = sum(m.data.nbytes for m in self._static.values()) // self.batch.blocks
            total = used + self._dynamic_bytes + size * dtype.itemsize
            if total > MAX_SHARED_BYTES:
                raise LaunchError(
                    f"The kernel asks for {total} bytes of shared memory with {name}; a block has "
                    f"{MAX_SHARED_BYTES}; make the array smaller."
                )
            data = np.zeros(size * self.batch.blocks, dtype)
            self._static[node] = Memory(name, "shared", data, Shadow(name, "shared", data.size))
        return self._static[node]

    def dynamic_shared(self, name: str, dtype: np.dtype) -> ArrayView:
        """The launch's dynamic shared memory seen as an array of this type."""
        size = self._dynamic_bytes // dtype.itemsize
        if dtype not in self._dynamic:
            self._dynamic[dtype] = self._dynamic_view(name, dtype)
        return ArrayView(self._dynamic[dtype], (size,), (1,))

    def _dynamic_view(self, name: str, dtype: np.dtype) -> Memory:
        """All views share the bytes and one shadow, whose units are the smallest view's."""
        if not self._dynamic:
            # Room for whole elements of every type, so that each block's views line up.
            room = -(-self._dynamic_bytes // 16) * 16
            data = np.zeros(room * self.batch.blocks, np.uint8).view(dtype)
            return Memory(name, "shared", data, Shadow(name, "shared", data.size))
        first = next(iter(self._dynamic.values()))
        data = first.data.view(dtype)
        if data.size > first.shadow.writer.size:
            first.shadow.refine(data.size // first.shadow.writer.size)
        return Memory(name, "shared", data, first.shadow)

    def shared_size(self, memory: Memory) -> int:
        """Elements of this shared allocation in each block."""
        return memory.data.size // self.batch.blocks

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
        if mask.count == self.live.count:
            self.clock.barrier(mask, everyone=True)
        else:
            self._partial_barrier(mask, site)
        if self.counters:
            self.counters.barrier(mask, site)

    def _partial_barrier(self, mask: Mask, site: Site) -> None:
        shape = (self.batch.blocks, self.batch.width)
        here = mask.lanes.reshape(shape).sum(axis=1)
        alive = self.live.lanes.reshape(shape).sum(axis=1)
        split = (here > 0) & (here < alive)
        if split.any() and not self.report.knows("barrier", site, ""):
            block = int(np.flatnonzero(split)[0])
            absent = self.live.lanes & ~mask.lanes
            lane = int(np.flatnonzero(absent.reshape(shape)[block])[0]) + block * self.batch.width
            thread = self.batch.thread(lane)
            self.report.add(Finding(
                "barrier", site, "", (), (thread,), int(split.sum()),
                f"{here[block]} of the {alive[block]} live threads of block "
                f"{thread.block} reach this barrier; {thread} does not.",
            ))  # fmt: skip
        self.clock.barrier(mask, everyone=False)

    def grid_barrier(self, mask: Mask, site: Site) -> None:
        """All live threads of the grid must be here."""
        if mask.count != self.live.count:
            lane = int(np.flatnonzero(self.live.lanes & ~mask.lanes)[0])
            self.report.add(Finding(
                "barrier", site, "", (), (self.batch.thread(lane),), self.live.count - mask.count,
                f"{mask.count} of the grid's {self.live.count} live threads reach this barrier; "
                f"{self.batch.thread(lane)} does not.",
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

    def count_access(
        self, memory: Memory, kind: str, addresses, mask: Mask, site: Site, width: int = 1
    ) -> None:
        if self.counters:
            self.counters.access((memory, width), kind, addresses, mask, site)

    def count_operation(self, source: Source, node: ast.AST, result, mask: Mask) -> None:
        if self.counters and result.dtype.kind in "fc":
            self.counters.operation(source.site(node), result.dtype, mask)


@dataclass(frozen=True)
class Observer:
    """What a launch is watched with. ``blocks``: run only so many, spread over the grid."""

    report: Report
    counters: Counters | None = None
    blocks: int | None = None


def launch(
    function: Callable,
    geometry: Geometry,
    arguments: tuple,
    dynamic_shared: int,
    observer: Observer,
) -> None:
    """Run a kernel's Python function on the whole grid, or on the blocks that are observed.

    Raises the first finding as an error, unless the observer's report collects them.
    """
    program = compile_function(function)
    _check_limits(program, geometry, arguments, dynamic_shared)
    values = kernel_arguments(program, program.source.filled(arguments))
    releases = Releases(geometry.blocks)
    with np.errstate(all="ignore"), _telling_what_was_written(values):
        for first, blocks in _batches(program, geometry, observer.blocks):
            batch = Batch(geometry, first, blocks)
            clock = Clock(batch, observer.report, releases)
            run = Run(batch, clock, observer.counters, dynamic_shared)
            program.call(run, values, batch.everyone, is_kernel=True)
            run.clock.settle()


def _batches(program: Program, geometry: Geometry, sample: int | None) -> Iterator:
    """First block and number of blocks of each batch."""
    if sample is not None and sample < geometry.blocks:
        for first in np.linspace(0, geometry.blocks - 1, sample).round().astype(int):
            yield int(first), 1
        return
    per_batch = max(1, LANES_PER_BATCH // geometry.lanes_per_block)
    if program.cooperative:
        per_batch = geometry.blocks
    elif program.takes_turns:
        per_batch = 1
    for first in range(0, geometry.blocks, per_batch):
        yield first, min(per_batch, geometry.blocks - first)


@contextlib.contextmanager
def _telling_what_was_written(values: tuple):
    """As on a GPU, arrays keep what a failed launch has written; the error says which do."""
    try:
        yield
    except VirtualGpuError as error:
        names = {v.name for v in values if isinstance(v, ArrayView) and v.memory.was_written}
        if names:
            error.args = (f"{error} Written before: {', '.join(sorted(names))}.",)
        raise


def make_geometry(grid, block) -> Geometry:
    """Grid and block as Numba takes them: an int, or a tuple of up to three."""
    return Geometry(_three(grid, "grid"), _three(block, "block"))


def _three(dimensions, what: str) -> tuple[int, int, int]:
    given = dimensions if isinstance(dimensions, tuple | list) else (dimensions,)
    whole = all(isinstance(d, int | np.integer) for d in given)
    if not whole or not 1 <= len(given) <= 3 or any(d < 1 for d in given):
        raise LaunchError(
            f"The {what} is {dimensions!r}; it must be one to three whole numbers, each at least 1."
        )
    return (*(int(d) for d in given), *(1,) * (3 - len(given)))


def _check_limits(program: Program, geometry: Geometry, arguments: tuple, dynamic: int) -> None:
    expected = len(program.source.parameters)
    if program.source.filled(arguments) is None:
        raise LaunchError(
            f"{program.source.name} takes {expected} arguments; {len(arguments)} were given."
        )
    if geometry.threads > MAX_THREADS:
        raise LaunchError(
            f"The block {geometry.block} has {geometry.threads} threads; a device takes at most "
            f"{MAX_THREADS}."
        )
    for what, given, limits in (
        ("block", geometry.block, MAX_BLOCK),
        ("grid", geometry.grid, MAX_GRID),
    ):
        if any(g > limit for g, limit in zip(given, limits, strict=True)):
            raise LaunchError(f"The {what} is {given}; a device takes at most {limits}.")
    if dynamic > MAX_SHARED_BYTES:
        raise LaunchError(
            f"The launch asks for {dynamic} bytes of dynamic shared memory; a block has "
            f"{MAX_SHARED_BYTES}."
        )
