"""Runs a launch: checks it against the limits of a device, then runs the grid batch by batch."""

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
from ..common.limits import LaunchLimits, in_bytes, limits_of
from ..compilers.kernels import as_numba_kernel
from ..counts.counters import Counters
from ..counts.recorder import Recorder
from ..host.hostarrays import DeviceArray
from ..language.compiler import compile_function
from ..language.program import Program
from ..machine.change import Change
from ..machine.geometry import MAX_BLOCK, MAX_GRID, MAX_THREADS
from ..machine.occupancy import MULTIPROCESSORS, resident_blocks
from ..machine.run import BatchRun
from ..machine.watch import Watch
from ..memory.filling import NONZERO_FILLINGS, ZEROS, ZEROS_AGAIN, Filling
from ..memory.memory import ArrayView, Memory
from ..memory.shared import MAX_SHARED_BYTES, SharedMemory
from ..memory.undefined import Rerun, as_before, results_depend, swap_before
from ..types.signatures import as_declared
from .arguments import Arguments, kernel_arguments, unwrapped

LANES_PER_BATCH = 65536
# glibc gives freed memory back to the system at once, and each new vector then costs page faults,
# unless the program has freed a block as large as this one. Its pages are never touched.
LARGE_BLOCK_BYTES = 31 << 20
BYTES_PER_LANE = 90  # for variables and masks, measured with a small kernel


@dataclass(frozen=True)
class Observer:
    """The report, the counters and the limits of one launch.

    ``blocks`` is the number of blocks to run, spread over the grid; None runs all. If ``limits`` is
    None, the limits come from the environment variables. ``change`` changes what threads get, if
    it is not None.
    """

    report: Report
    counters: Counters | None = None
    blocks: int | None = None
    limits: LaunchLimits | None = None
    change: Change | None = None

    @property
    def recorder(self) -> Recorder | None:
        """The recorder of the events of one block, or None if no block is recorded."""
        return self.counters.recorder if self.counters else None

    def forget(self) -> None:
        """Discard findings and counts, so that the launch can start again."""
        self.report.forget()
        if self.counters:
            self.counters.forget()


def launch(
    kernel: Callable,
    geometry: Geometry,
    arguments: tuple,
    dynamic_shared: int,
    observer: Observer,
) -> None:
    """Run a kernel on the whole grid, or on the observer's sample of blocks.

    ``kernel`` is a dispatcher or a plain Python function, ``arguments`` are those of the caller,
    and ``dynamic_shared`` is the dynamic shared memory of a block in bytes. Raises the first flaw
    as an error, unless the observer's report collects findings. Raises Unsupported for code that
    the virtual GPU does not know, KernelRaised if a thread reaches a ``raise`` or a failing
    ``assert``, LaunchError for a launch that a device would refuse, and LimitReached if it exceeds
    a limit.
    """
    kernel = as_numba_kernel(kernel)
    program = compile_function(getattr(kernel, "py_func", kernel))
    _check_limits(program, geometry, arguments, dynamic_shared)
    _check_launch_bounds(kernel, geometry)
    if program.syncs_grid:
        _check_resident(geometry, dynamic_shared)
    with unwrapped(arguments) as arrays:
        _check_no_none(program, arrays)
        filled = program.source.filled(arrays)
        filled = as_declared(kernel, program.source.parameters, filled)
        limits = observer.limits or limits_of()
        _check_bytes(program, geometry, limits)
        task = _CheckedLaunch(program, geometry, filled, dynamic_shared, limits)
        attempts = [task.make_arguments()]
        with _completed_errors(program, attempts):
            _run_and_judge(task, attempts, observer)
        _note_fills(program, filled, observer)


def _note_fills(program: Program, arguments: tuple, observer: Observer) -> None:
    """Call ``note_fill`` of each device array that the launch may have stored to.

    Only device arrays with undefined elements count. ``arguments`` has one entry per parameter.
    """
    whole = observer.blocks is None
    for name, argument in zip(program.source.parameters, arguments, strict=True):
        by_index = program.fills.get(name)
        for item in argument if isinstance(argument, tuple) else (argument,):
            undefined = isinstance(item, DeviceArray) and item.unwritten is not None
            if undefined and by_index is not None:
                item.note_fill(program.source.name, by_index and whole and item is argument)


@dataclass(frozen=True)
class _CheckedLaunch:
    """A launch that a device would accept.

    ``arguments`` has one entry per parameter. ``dynamic_shared`` is the dynamic shared memory of a
    block in bytes. ``block_by_block`` is True if each batch has one block only. ``program`` is the
    compiled kernel, ``geometry`` has the extents of grid and block, and ``limits`` are those of
    time and memory.
    """

    program: Program
    geometry: Geometry
    arguments: tuple
    dynamic_shared: int
    limits: LaunchLimits
    block_by_block: bool = False

    def make_arguments(self) -> Arguments:
        """Return new Arguments, for one run of the launch."""
        threads = self.geometry.blocks * self.geometry.threads
        return kernel_arguments(self.program, self.arguments, self.limits, threads)


def _run_and_judge(task: _CheckedLaunch, attempts: list[Arguments], observer: Observer) -> None:
    """Run the launch, judge its reads of undefined elements, and raise the first error.

    A read of an undefined element is an error if the results depend on it, otherwise it becomes a
    warning. A read of a stale element of a shared array on which no result depends is discarded. If
    findings are collected, only an error that is no finding is raised; its ``earlier`` holds the
    flaws that were found before it. ``attempts`` holds the Arguments of the first run; those of
    further runs are appended.
    """
    report = observer.report
    task, error = _run_in_batches_or_by_block(task, attempts, observer)
    if report.undefined and not _results_depend(task, attempts[-1], observer, error):
        report.discard_undefined()
    for array in report.stale_arrays:
        if not _stale_elements_count(array, task, attempts[-1], observer, error):
            report.forget_stale(array)
    report.raise_first()
    if error is not None:
        error.earlier = tuple(f for f in report.findings if not f.is_warning)
        raise error


@dataclass(frozen=True)
class _Outcome:
    """How a run ended: its memories, its report, and the error that stopped it, or None."""

    memories: list[Memory]
    report: Report
    error: VirtualGpuError | None

    def differs_from(self, other: _Outcome) -> bool:
        """Return True if the two runs were stopped by different errors or had other flaws.

        Reads of undefined values are not among these flaws.
        """
        if self.report.other_flaws != other.report.other_flaws:
            return True
        return type(self.error) is not type(other.error) or str(self.error) != str(other.error)


def _results_depend(
    task: _CheckedLaunch, arguments: Arguments, observer: Observer, error: VirtualGpuError | None
) -> bool:
    """Return True if the results of a launch depend on the undefined elements that it has read.

    ``arguments`` and ``error`` are those of the run that has ended. A run that was stopped at its
    first flaw has no results yet. In that case the launch runs again and goes on after its flaws,
    so that a launch is judged as ``trace`` judges it. The arrays are left as they are.
    """
    if error is None or error.finding is None:
        return _depends(task, _Outcome(arguments.memories, observer.report, error), observer)
    with as_before(arguments.memories):
        whole = _outcome(task, observer, ZEROS_AGAIN)
        depends = _depends(task, whole, observer)
        swap_before(whole.memories)
        return depends


def _stale_elements_count(
    array: str,
    task: _CheckedLaunch,
    arguments: Arguments,
    observer: Observer,
    error: VirtualGpuError | None,
) -> bool:
    """Return True if the results change with the stale elements of a shared array that were read.

    ``arguments`` and ``error`` are those of the run that has ended. The result is False if the run
    was stopped, or if the results depend on undefined elements, too. The arrays are left as they
    are.
    """
    if error is not None or observer.report.undefined:
        return False
    first = _Outcome(arguments.memories, observer.report, None)
    return _depends(task, first, observer, (Filling(0, disturbs=array),))


def _depends(
    task: _CheckedLaunch,
    first: _Outcome,
    observer: Observer,
    fillings: tuple[Filling, ...] = NONZERO_FILLINGS,
) -> bool:
    """Return True if a run with another filling ends otherwise than the run ``first``.

    A Filling is the content of undefined memory. The launch runs again with each of the
    ``fillings`` until one of them gives other results. The results are different if the written
    content, the errors or the flaws are. The arrays then hold the results of ``first`` again.
    """

    def run_again(filling: Filling) -> Rerun:
        outcome = _outcome(task, observer, filling)
        return Rerun(outcome.memories, outcome.differs_from(first))

    return results_depend(first.memories, run_again, fillings)


def _outcome(task: _CheckedLaunch, observer: Observer, filling: Filling) -> _Outcome:
    """Run the launch once more with this filling, and return its _Outcome.

    Findings are collected, so only an error that is no finding stops the run. It is in the outcome
    and is not raised. The arrays hold what the run has written; the caller restores them.
    """
    arguments = task.make_arguments()
    report = Report(collect=True)
    unseen = replace(observer, report=report, counters=None)
    try:
        _run(task, arguments, unseen, filling)
    except VirtualGpuError as error:
        return _Outcome(arguments.memories, report, error)
    return _Outcome(arguments.memories, report, None)


def _run_in_batches_or_by_block(
    task: _CheckedLaunch, attempts: list[Arguments], observer: Observer
) -> tuple[_CheckedLaunch, VirtualGpuError | None]:
    """Run the launch, and return (the launch, the error that has stopped it or None).

    The returned launch has ``block_by_block=True`` if it had to start again. ``attempts`` holds the
    arguments of the only attempt so far. Blocks that wait for earlier blocks of the same batch wait
    for ever. In that case the launch starts again, one block after the other, with new arguments,
    which are appended to ``attempts``. If the second run reaches a limit, too, the error is that of
    the first run.
    """
    try:
        _run(task, attempts[0], observer, ZEROS)
        return task, None
    except LimitReached as error:
        may_wait = task.program.cooperative and not task.program.syncs_grid
        if not error.waits_for_others or not may_wait:
            return task, error
        stuck = error
    except VirtualGpuError as error:
        return task, error
    swap_before(attempts[0].memories)
    observer.forget()
    task = replace(task, block_by_block=True)
    attempts.append(task.make_arguments())
    try:
        _run(task, attempts[-1], observer, ZEROS)
    except LimitReached:
        return task, stuck
    except VirtualGpuError as error:
        return task, error
    return task, None


def _run(task: _CheckedLaunch, arguments: Arguments, observer: Observer, filling: Filling) -> None:
    """Run the launch once, batch by batch, with undefined memory filled by ``filling``.

    The arrays then hold the results, and the observer's report and counters what was found. All
    batches share the record of fences and atomics. Raises LimitReached if a limit is exceeded, and
    the first flaw unless the report collects findings.
    """
    program, releases = task.program, Releases(task.geometry)
    total, batches = _batches(task, observer)
    np.empty(LARGE_BLOCK_BYTES, np.uint8)
    with (
        np.errstate(all="ignore"),
        contextlib.closing(Watch(program.source.name, task.limits, total)) as watch,
    ):
        for batch in batches:
            if observer.recorder:
                observer.recorder.begin(batch)
            clock = Clock(batch, observer.report, releases)
            check = _residency_check(batch) if program.syncs_grid else None
            shared = SharedMemory(batch.blocks, task.dynamic_shared, filling, check)
            memories, counters = arguments.memories, observer.counters
            run = BatchRun(
                batch, clock, counters, shared, memories, watch, filling, arguments.device_arrays,
                observer.change,
            )  # fmt: skip
            program.call(run, arguments.values, batch.everyone, is_kernel=True)
            for memory in memories:
                memory.settle(clock)
            excess = watch.batch_done()
            if excess:
                raise LimitReached(f"{program.source.name}: {excess}")


def _batches(task: _CheckedLaunch, observer: Observer) -> tuple[int, Iterator[Batch]]:
    """Return the number of batches and an iterator over them.

    If the observer asks for fewer blocks than the grid has, there are only that many batches, each
    of one block; the blocks are spread evenly over the grid, and the recorded block is one of them.
    Otherwise the batches cover the grid, and each has about LANES_PER_BATCH lanes. But it is one
    block if the launch runs block by block, or if its blocks take a lock and do not wait for each
    other; else it is the whole grid if they wait for each other.
    """
    program, geometry = task.program, task.geometry
    if observer.blocks is not None and observer.blocks < geometry.blocks:
        firsts = np.linspace(0, geometry.blocks - 1, observer.blocks).round().astype(int)
        if observer.recorder:
            recorded = observer.recorder.request.block
            firsts[np.abs(firsts - recorded).argmin()] = recorded
        return len(firsts), (Batch(geometry, int(first), 1) for first in firsts)
    size = max(1, LANES_PER_BATCH // geometry.lanes_per_block)
    if task.block_by_block or (program.uses_lock and not program.cooperative):
        size = 1
    elif program.cooperative:
        size = geometry.blocks
    starts = range(0, geometry.blocks, size)
    return len(starts), (
        Batch(geometry, first, min(size, geometry.blocks - first)) for first in starts
    )


def _check_bytes(program: Program, geometry: Geometry, limits: LaunchLimits) -> None:
    """Raise LimitReached if blocks that wait for each other do not fit into memory as one batch."""
    needed = geometry.blocks * geometry.lanes_per_block * BYTES_PER_LANE
    if program.cooperative and limits.bytes is not None and needed > limits.bytes:
        raise LimitReached(
            f"{program.source.name}: its {geometry.blocks} blocks wait for each other, so all of "
            f"them run at once, which takes about {in_bytes(needed)} of memory and more than "
            f"the limit of {in_bytes(limits.bytes)}; launch fewer blocks, or set "
            "VIRTUAL_GPU_BYTES higher."
        )


def _residency_check(batch: Batch) -> Callable[[int], None]:
    """Return a function that raises LaunchError if the whole grid cannot run at once.

    Its argument is the shared memory per block in bytes.
    """
    return lambda shared_bytes: _check_resident(batch.geometry, shared_bytes)


def _check_resident(geometry: Geometry, shared_bytes: int) -> None:
    """Raise LaunchError if a device with 132 multiprocessors cannot hold the whole grid at once.

    ``shared_bytes`` is the shared memory of a block.
    """
    most = resident_blocks(geometry.threads, shared_bytes)
    if geometry.blocks > most:
        raise LaunchError(
            f"The grid has {geometry.blocks} blocks of {geometry.threads} threads and "
            f"{shared_bytes} bytes of shared memory, and a barrier of the whole grid needs all of "
            f"them at once; a device with {MULTIPROCESSORS} multiprocessors holds {most}; launch "
            "fewer blocks, and let each do more."
        )


@contextlib.contextmanager
def _completed_errors(program: Program, attempts: list[Arguments]):
    """Complete, within the context, the message of a VirtualGpuError and raise it again.

    The message then names the file of the error's finding if that is not the kernel's, and the
    array arguments that the launch has written: as on a GPU, they keep what a failed launch wrote.
    Arrays in tuples and arrays of records are not named. ``attempts`` holds the Arguments of each
    run, of which the last ones count.
    """
    try:
        yield
    except VirtualGpuError as error:
        message = str(error)
        if error.finding:
            message += elsewhere(error.finding.site.file, program.source.file)
        values = attempts[-1].values
        names = {v.name for v in values if isinstance(v, ArrayView) and v.memory.was_written}
        if names:
            message += f" Written before: {', '.join(sorted(names))}."
        error.args = (message,)
        raise


def _check_limits(program: Program, geometry: Geometry, arguments: tuple, dynamic: int) -> None:
    """Raise LaunchError for a wrong number of arguments or a launch beyond a device's limits.

    ``dynamic`` is the dynamic shared memory in bytes, which must be a whole number.
    """
    if program.source.filled(arguments) is None:
        raise _wrong_number(program.source.name, program.source.parameters, len(arguments))
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


def _wrong_number(kernel: str, parameters: tuple[str, ...], count: int) -> LaunchError:
    """Return, without raising it, the LaunchError for a wrong number of arguments.

    ``count`` is the number that was given to ``kernel``, and ``parameters`` are its parameters.
    """
    expected = f"{len(parameters)} argument{'s' if len(parameters) != 1 else ''}"
    names = f" ({', '.join(parameters)})" if parameters else ""
    return LaunchError(
        f"{kernel} takes {expected}{names}; {count} {'was' if count == 1 else 'were'} given."
    )


def _check_no_none(program: Program, arguments: tuple) -> None:
    """Raise LaunchError if an argument is None or is a tuple that holds None."""
    for name, value in zip(program.source.parameters, arguments, strict=False):
        if any(item is None for item in (value if isinstance(value, tuple) else (value,))):
            raise LaunchError(
                f"The argument {name} is or holds None, which Numba's launch does not take; pass "
                "an array or a number, or leave out a last argument whose default is None."
            )


def _check_launch_bounds(kernel: Callable, geometry: Geometry) -> None:
    """Raise LaunchError if a block has more threads than ``launch_bounds`` of the kernel allow."""
    bounds = getattr(kernel, "targetoptions", {}).get("launch_bounds")
    most = bounds[0] if isinstance(bounds, tuple | list) and bounds else bounds
    if most and geometry.threads > most:
        raise LaunchError(
            f"The block {geometry.block} has {geometry.threads} threads; the kernel was compiled "
            f"with launch_bounds={bounds!r}; launch at most {most} threads in a block."
        )
