"""A launch: checks what a device would refuse, then runs the grid batch by batch."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from .arguments import kernel_arguments
from .clock import Clock, Releases
from .compiler import compile_function
from .counters import Counters
from .errors import LaunchError, VirtualGpuError
from .lanes import Batch, Geometry
from .memory import ArrayView
from .program import Program
from .report import Report
from .run import Run
from .shared import MAX_SHARED_BYTES, SharedMemory

MAX_THREADS = 1024
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
LANES_PER_BATCH = 16384


@dataclass(frozen=True)
class Observer:
    """What a launch is watched with. ``blocks``: run only so many, spread over the grid."""

    report: Report
    counters: Counters | None = None
    blocks: int | None = None


def launch(
    function: Callable,
    geometry: Geometry,
    given: tuple,
    dynamic_shared: int,
    observer: Observer,
) -> None:
    """Run a kernel's Python function on the whole grid, or on the blocks that are observed.

    ``given``: the arguments as the caller has them. ``dynamic_shared``: bytes in each block.
    Raises the first finding as an error, unless the observer's report collects them.
    """
    program = compile_function(function)
    _check_limits(program, geometry, given, dynamic_shared)
    arguments = kernel_arguments(program, program.source.filled(given))
    releases = Releases(geometry.blocks)
    with np.errstate(all="ignore"), _telling_what_was_written(arguments.values):
        for batch in _batches(program, geometry, observer.blocks):
            clock = Clock(batch, observer.report, releases)
            shared = SharedMemory(batch.blocks, dynamic_shared)
            run = Run(batch, clock, observer.counters, shared)
            program.call(run, arguments.values, batch.everyone, is_kernel=True)
            for memory in arguments.memories:
                memory.settle(clock)


def _batches(program: Program, geometry: Geometry, sample: int | None) -> Iterator[Batch]:
    """The grid in batches; of a sample each block alone."""
    if sample is not None and sample < geometry.blocks:
        for first in np.linspace(0, geometry.blocks - 1, sample).round().astype(int):
            yield Batch(geometry, int(first), 1)
        return
    per_batch = max(1, LANES_PER_BATCH // geometry.lanes_per_block)
    if program.cooperative:
        per_batch = geometry.blocks
    elif program.takes_turns:
        per_batch = 1
    for first in range(0, geometry.blocks, per_batch):
        yield Batch(geometry, first, min(per_batch, geometry.blocks - first))


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


def _check_limits(program: Program, geometry: Geometry, given: tuple, dynamic: int) -> None:
    expected = len(program.source.parameters)
    if program.source.filled(given) is None:
        raise LaunchError(
            f"{program.source.name} takes {expected} arguments; {len(given)} were given."
        )
    if geometry.threads > MAX_THREADS:
        raise LaunchError(
            f"The block {geometry.block} has {geometry.threads} threads; a device takes at most "
            f"{MAX_THREADS}."
        )
    for what, extent, limits in (
        ("block", geometry.block, MAX_BLOCK),
        ("grid", geometry.grid, MAX_GRID),
    ):
        if any(size > limit for size, limit in zip(extent, limits, strict=True)):
            raise LaunchError(f"The {what} is {extent}; a device takes at most {limits}.")
    if dynamic > MAX_SHARED_BYTES:
        raise LaunchError(
            f"The launch asks for {dynamic} bytes of dynamic shared memory; a block has "
            f"{MAX_SHARED_BYTES}."
        )
