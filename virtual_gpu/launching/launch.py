"""A launch: checks what a device would refuse, then runs the grid batch by batch."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..checks.clock import Clock
from ..checks.releases import Releases
from ..checks.report import Report
from ..common.errors import LaunchError, LimitReached, VirtualGpuError
from ..common.filenames import elsewhere
from ..common.lanes import Batch, Geometry
from ..common.limits import Limits, in_bytes, limits_of
from ..counts.counters import Counters
from ..counts.recorder import Recorder
from ..language.compiler import compile_function
from ..language.program import Program
from ..machine.geometry import MAX_BLOCK, MAX_GRID, MAX_THREADS
from ..machine.occupancy import MULTIPROCESSORS, resident_blocks
from ..machine.run import Run
from ..machine.watch import Watch
from ..memory.filling import ZEROS, Filling
from ..memory.memory import ArrayView
from ..memory.shared import MAX_SHARED_BYTES, SharedMemory
from ..memory.undefined import Rerun, results_depend
from ..types.signatures import as_declared
from .arguments import Arguments, kernel_arguments, unwrapped

LANES_PER_BATCH = 32768
BYTES_PER_LANE = 90  # of variables and masks, measured with a small kernel


@dataclass(frozen=True)
class Observer:
    """What a launch is watched with, and held to.

    ``blocks``: run only so many, spread over the grid. ``limits``: None for the environment's.
    """

    report: Report
    counters: Counters | None = None
    blocks: int | None = None
    limits: Limits | None = None

    @property
    def recorder(self) -> Recorder | None:
        """What keeps the events of one block."""
        return self.counters.recorder if self.counters else None

    def forget(self) -> None:
        """The launch begins again from the start."""
        self.report.forget()
        if self.counters:
            self.counters.forget()


def launch(
    kernel: Callable,
    geometry: Geometry,
    given: tuple,
    dynamic_shared: int,
    observer: Observer,
) -> None:
    """Run a kernel on the whole grid, or on the blocks that are observed.

    ``kernel``: a dispatcher or a plain Python function. ``given``: the arguments as the caller has
    them. ``dynamic_shared``: bytes in each block.
    Raises the first finding as an error, unless the observer's report collects them.
    """
    program = compile_function(getattr(kernel, "py_func", kernel))
    _check_limits(program, geometry, given, dynamic_shared)
    _check_launch_bounds(kernel, geometry)
    if program.syncs_grid:
        _check_resident(geometry, dynamic_shared)
    with unwrapped(given) as arrays:
        _check_no_none(program, arrays)
        filled = program.source.filled(arrays)
        filled = as_declared(kernel, program.source.parameters, filled)
        limits = observer.limits or limits_of()
        _check_bytes(program, geometry, limits)
        task = _Task(program, geometry, filled, dynamic_shared, limits)
        attempts = [kernel_arguments(program, filled, limits)]
        with _telling_where_and_what_was_written(program, attempts):
            _run_and_judge(task, attempts, observer)


@dataclass(frozen=True)
class _Task:
    """A launch whose limits have been checked."""

    program: Program
    geometry: Geometry
    given: tuple
    dynamic_shared: int
    limits: Limits
    in_turn: bool = False  # block after block


def _run_and_judge(task: _Task, attempts: list[Arguments], observer: Observer) -> None:
    """Run the launch; if it reads what nobody has set, find out whether that matters."""
    report = observer.report
    try:
        task = _run_at_once_or_in_turn(task, attempts, observer)
    except VirtualGpuError:
        report.raise_first()  # what was found before is the cause, or comes first
        raise
    if not report.undefined:
        return

    def again(filling: Filling) -> Rerun:
        fresh, second = kernel_arguments(task.program, task.given, task.limits), Report(True)
        try:
            _run(task, fresh, Observer(second, None, observer.blocks), filling)
        except VirtualGpuError:
            return Rerun(fresh.memories, differs=True)
        return Rerun(fresh.memories, second.other_flaws != report.other_flaws)

    if results_depend(attempts[-1].memories, again):
        report.raise_first()
    else:
        report.discard_undefined()


def _run_at_once_or_in_turn(
    task: _Task, attempts: list[Arguments], observer: Observer
) -> _Task:
    """Run the launch with the arguments of the only attempt; returns the task that was run.

    Blocks of one batch that wait for earlier ones among them wait for ever. Then the launch begins
    again with another attempt, block after block.
    """
    try:
        _run(task, attempts[0], observer, ZEROS)
        return task
    except LimitReached as error:
        may_wait = task.program.cooperative and not task.program.syncs_grid
        if not error.waits_for_others or not may_wait:
            raise
        stuck = error
    for memory in attempts[0].memories:
        memory.swap_before()
    observer.forget()
    task = replace(task, in_turn=True)
    attempts.append(kernel_arguments(task.program, task.given, task.limits))
    try:
        _run(task, attempts[-1], observer, ZEROS)
    except LimitReached:
        raise stuck from None
    return task


def _run(task: _Task, arguments: Arguments, observer: Observer, filling: Filling) -> None:
    """Run the blocks batch by batch; a fence of one batch is known to the next."""
    program, releases = task.program, Releases(task.geometry)
    total, batches = _batches(task, observer)
    with (
        np.errstate(all="ignore"),
        contextlib.closing(Watch(program.source.name, task.limits, total)) as watch,
    ):
        for batch in batches:
            if observer.recorder:
                observer.recorder.begin(batch)
            clock = Clock(batch, observer.report, releases)
            check = _room_check(batch) if program.syncs_grid else None
            shared = SharedMemory(batch.blocks, task.dynamic_shared, filling, check)
            memories, counters = arguments.memories, observer.counters
            run = Run(batch, clock, counters, shared, memories, watch, filling)
            program.call(run, arguments.values, batch.everyone, is_kernel=True)
            for memory in memories:
                memory.settle(clock)
            excess = watch.batch_done()
            if excess:
                raise LimitReached(f"{program.source.name}: {excess}")


def _batches(task: _Task, observer: Observer) -> tuple[int, Iterator[Batch]]:
    """How many batches there are, and the grid in batches; of a sample each block alone, the
    recorded one among them."""
    program, geometry = task.program, task.geometry
    if observer.blocks is not None and observer.blocks < geometry.blocks:
        firsts = np.linspace(0, geometry.blocks - 1, observer.blocks).round().astype(int)
        if observer.recorder:
            recorded = observer.recorder.order.block
            firsts[np.abs(firsts - recorded).argmin()] = recorded
        return len(firsts), (Batch(geometry, int(first), 1) for first in firsts)
    size = max(1, LANES_PER_BATCH // geometry.lanes_per_block)
    if task.in_turn or (program.takes_turns and not program.cooperative):
        size = 1
    elif program.cooperative:
        size = geometry.blocks
    starts = range(0, geometry.blocks, size)
    return len(starts), (
        Batch(geometry, first, min(size, geometry.blocks - first)) for first in starts
    )


def _check_bytes(program: Program, geometry: Geometry, limits: Limits) -> None:
    """Blocks that wait for each other run in one batch, which must fit into memory."""
    needed = geometry.blocks * geometry.lanes_per_block * BYTES_PER_LANE
    if program.cooperative and limits.bytes is not None and needed > limits.bytes:
        raise LimitReached(
            f"{program.source.name}: its {geometry.blocks} blocks wait for each other, so all of "
            f"them run at once, which takes about {in_bytes(needed)} of memory and more than "
            f"the limit of {in_bytes(limits.bytes)}; launch fewer blocks, or set "
            "VIRTUAL_GPU_BYTES higher."
        )


def _room_check(batch: Batch) -> Callable[[int], None]:
    """What refuses a cooperative launch whose blocks ask for so many bytes of shared memory that a
    device cannot hold all of them at once."""
    return lambda shared_bytes: _check_resident(batch.geometry, shared_bytes)


def _check_resident(geometry: Geometry, shared_bytes: int) -> None:
    most = resident_blocks(geometry.threads, shared_bytes)
    if geometry.blocks > most:
        raise LaunchError(
            f"The grid has {geometry.blocks} blocks of {geometry.threads} threads and "
            f"{shared_bytes} bytes of shared memory, and a barrier of the whole grid needs all of "
            f"them at once; a device with {MULTIPROCESSORS} multiprocessors holds {most}; launch "
            "fewer blocks, and let each do more."
        )


@contextlib.contextmanager
def _telling_where_and_what_was_written(program: Program, attempts: list[Arguments]):
    """A finding of another file than the kernel's says so. As on a GPU, arrays keep what a failed
    launch has written; the error says which do."""
    try:
        yield
    except VirtualGpuError as error:
        said = str(error)
        if error.finding:
            said += elsewhere(error.finding.site.file, program.source.file)
        values = attempts[-1].values
        names = {v.name for v in values if isinstance(v, ArrayView) and v.memory.was_written}
        if names:
            said += f" Written before: {', '.join(sorted(names))}."
        error.args = (said,)
        raise


def _check_limits(program: Program, geometry: Geometry, given: tuple, dynamic: int) -> None:
    if program.source.filled(given) is None:
        raise _wrong_number(program.source.name, program.source.parameters, len(given))
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
    if isinstance(dynamic, bool) or not isinstance(dynamic, int | np.integer) or dynamic < 0:
        raise LaunchError(
            f"The dynamic shared memory is {dynamic!r}; it must be a whole number of bytes, at "
            "least 0."
        )
    if dynamic > MAX_SHARED_BYTES:
        raise LaunchError(
            f"The launch asks for {dynamic} bytes of dynamic shared memory; a block has "
            f"{MAX_SHARED_BYTES}."
        )


def _wrong_number(kernel: str, parameters: tuple[str, ...], given: int) -> LaunchError:
    expected = f"{len(parameters)} argument{'s' if len(parameters) != 1 else ''}"
    names = f" ({', '.join(parameters)})" if parameters else ""
    return LaunchError(
        f"{kernel} takes {expected}{names}; {given} {'was' if given == 1 else 'were'} given."
    )


def _check_no_none(program: Program, given: tuple) -> None:
    for name, value in zip(program.source.parameters, given, strict=False):
        if any(item is None for item in (value if isinstance(value, tuple) else (value,))):
            raise LaunchError(
                f"The argument {name} is or holds None, which Numba's launch does not take; pass "
                "an array or a number, or leave out a last argument whose default is None."
            )


def _check_launch_bounds(kernel: Callable, geometry: Geometry) -> None:
    """``@cuda.jit(launch_bounds=...)``: the first number is the most threads of a block."""
    bounds = getattr(kernel, "targetoptions", {}).get("launch_bounds")
    most = bounds[0] if isinstance(bounds, tuple | list) and bounds else bounds
    if most and geometry.threads > most:
        raise LaunchError(
            f"The block {geometry.block} has {geometry.threads} threads; the kernel was compiled "
            f"with launch_bounds={bounds!r}; launch at most {most} threads in a block."
        )
