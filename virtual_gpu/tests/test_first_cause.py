"""A launch, ``trace``, the command line and its ``--stop`` name the same first cause of a flaw."""

import contextlib
import warnings

import numpy as np
import pytest
from numba import cuda, float32, int32

from virtual_gpu import OutOfBounds, Race, VirtualGpuError, install, trace
from virtual_gpu.host.allocation import device_array_like
from virtual_gpu.launching.dispatcher_methods import VirtualLaunch, run_launch, watching
from virtual_gpu.launching.tracing import make_geometry
from virtual_gpu.programs.launch_log import LaunchLog, Stopped
from virtual_gpu.tests.kernels import KernelCase, broken, correct, vectors
from virtual_gpu.tests.planted import bugs_in_kernels, bugs_in_programs, bugs_of_beginners
from virtual_gpu.tests.test_strangers import BROKEN

BLOCK = 32


@cuda.jit
def shifted_by_one(x, out):
    tile = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    if t < 20:
        tile[t] = x[t]
    cuda.syncthreads()
    value = tile[t]
    if t < 20:
        out[t + 1] = value


@cuda.jit
def one_barrier_missing(x, out):
    tile = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    if t < 20:
        tile[t] = x[t]
    value = tile[t]
    if t < 20:
        out[t] = value + tile[19 - t]


@cuda.jit
def barrier_in_a_branch(x, out):
    tile = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    if t < 20:
        tile[t] = x[t]
    cuda.syncthreads()
    value = tile[t]
    if t < 20:
        cuda.syncthreads()
        out[t] = value


@cuda.jit
def unset_variable_then_race(x, out):
    t = cuda.threadIdx.x
    if t < 20:
        value = x[t]
    doubled = value * float32(2)
    if t < 20:
        out[t // 2] = doubled


@cuda.jit
def harmful_before_the_index(x, out):
    tile = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    if t < 20:
        tile[t] = x[t]
    cuda.syncthreads()
    out[t % 20] = tile[t]
    out[t + 1] = 0


@cuda.jit
def harmful_only_after_the_index(x, out):
    tile = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    if t < 20:
        tile[t] = x[t]
    cuda.syncthreads()
    value = tile[t]
    if t > 18:
        out[t] = float32(1)
    if t == 30:
        out[0] = value


def _with_unset_reads(kernel, kind):
    return KernelCase(kernel, kind, vectors(20), block=BLOCK)


HARMLESS = [
    _with_unset_reads(shifted_by_one, "out_of_bounds"),
    _with_unset_reads(one_barrier_missing, "race"),
    _with_unset_reads(barrier_in_a_branch, "barrier"),
    _with_unset_reads(unset_variable_then_race, "race"),
]
HARMFUL = [
    _with_unset_reads(harmful_before_the_index, "uninitialised"),
    _with_unset_reads(harmful_only_after_the_index, "uninitialised"),
]
STRANGE = [
    KernelCase(kernel, "race", lambda rng, make=make: make(), grid, block)
    for kernel, grid, block, make in BROKEN.values()
]
each_case = pytest.mark.parametrize(
    "case", [*broken.CASES, *STRANGE, *HARMLESS, *HARMFUL], ids=lambda case: case.name
)


def arguments_of(case):
    return tuple(
        device_array_like(argument) if number in case.unset else argument
        for number, argument in enumerate(case.arguments())
    )


def launch_of(case):
    return VirtualLaunch(case.kernel, make_geometry(case.grid, case.block), case.shared_bytes)


def cause_of_a_launch(case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            run_launch(launch_of(case), arguments_of(case))
        except VirtualGpuError as error:
            return error.finding
    return None


def cause_of_a_log(case, stop):
    log = LaunchLog(stop)
    with contextlib.suppress(Stopped):
        log(launch_of(case), arguments_of(case))
    return next(iter(log.flaws), None)


def cause_of_a_trace(case):
    run = trace(
        case.kernel, case.grid, case.block, *arguments_of(case), shared_bytes=case.shared_bytes
    )
    return next((finding for finding in run.findings if not finding.is_warning), None)


def said(finding):
    """Return what a finding accuses, without the number of threads, which a stop cuts short."""
    return finding and (finding.kind, finding.site, finding.array, finding.index, finding.threads)


@each_case
def test_all_ways_to_run_a_broken_kernel_name_the_same_first_cause(case):
    cause = said(cause_of_a_trace(case))
    assert cause is not None
    assert said(cause_of_a_launch(case)) == cause
    assert said(cause_of_a_log(case, stop=False)) == cause
    assert said(cause_of_a_log(case, stop=True)) == cause


def cause_of_a_program(run, watcher, flaws):
    """Run a program whose launches ``watcher`` runs; return the first flaw that it has met.

    ``flaws`` returns the flaws that the watcher has kept. An error that is no finding ends the
    program, which may be the bug that it shows.
    """
    with warnings.catch_warnings(), watching(watcher):
        warnings.simplefilter("ignore")
        try:
            run()
        except (VirtualGpuError, TypeError, ValueError, AttributeError, Stopped) as error:
            if getattr(error, "finding", None) is not None:
                return said(error.finding)
    return said(next(iter(flaws()), None))


def cause_of_a_logged_program(run, stop):
    log = LaunchLog(stop)
    return cause_of_a_program(run, log, lambda: log.flaws)


def cause_of_a_traced_program(run):
    kept = []

    def watcher(call, arguments):
        where = call.geometry.grid, call.geometry.block
        result = trace(call.kernel, *where, *arguments, shared_bytes=call.shared_bytes)
        kept.extend(finding for finding in result.findings if not finding.is_warning)

    return cause_of_a_program(run, watcher, lambda: kept)


@pytest.mark.parametrize(
    "program",
    [*bugs_in_kernels.PROGRAMS, *bugs_in_programs.PROGRAMS, *bugs_of_beginners.PROGRAMS],
    ids=lambda one: one.name,
)
def test_all_ways_to_run_a_program_with_a_bug_name_the_same_first_cause(program):
    install()
    cause = cause_of_a_traced_program(program.run)
    assert cause_of_a_program(program.run, run_launch, lambda: ()) == cause
    assert cause_of_a_logged_program(program.run, stop=False) == cause
    assert cause_of_a_logged_program(program.run, stop=True) == cause


@pytest.mark.parametrize("case", [*HARMLESS, *HARMFUL], ids=lambda case: case.name)
def test_a_read_of_unset_memory_is_the_cause_only_where_a_result_depends_on_it(case):
    assert cause_of_a_launch(case).kind == case.kind


@pytest.mark.parametrize("case", correct.CASES, ids=lambda case: case.name)
def test_a_correct_kernel_has_no_cause_in_any_of_them(case):
    assert cause_of_a_launch(case) is None
    assert cause_of_a_log(case, stop=True) is None


def test_a_stopped_launch_leaves_what_it_has_written_before_it_was_judged(capsys):
    @cuda.jit
    def write_then_leave(x, out):
        tile = cuda.shared.array(BLOCK, int32)
        t = cuda.threadIdx.x
        if t < 20:
            tile[t] = x[t]
        cuda.syncthreads()
        value = tile[t]
        if t < 20:
            out[t] += value
        if t == 0:
            print("once")
        out[t + 5] = 7
        x[t] = 3

    x, out = np.arange(20, dtype=np.int32), np.full(20, 100, np.int32)
    with pytest.raises(OutOfBounds, match="Written before: out"):
        run_launch(VirtualLaunch(write_then_leave, make_geometry(1, BLOCK), 0), (x, out))
    np.testing.assert_array_equal(out[:5], 100 + np.arange(5))
    np.testing.assert_array_equal(x, np.arange(20))
    assert capsys.readouterr().out == "once\n"


@cuda.jit
def race_and_then_no_end(x, out):
    t = cuda.threadIdx.x
    out[0] = x[t]
    while x[t] >= 0:
        out[1] = 1


def test_a_flaw_before_a_loop_without_end_is_kept_with_the_error(monkeypatch):
    monkeypatch.setenv("VIRTUAL_GPU_MAX_ROUNDS", "100")
    arguments = np.arange(BLOCK, dtype=np.float32), np.zeros(2, np.float32)
    call = VirtualLaunch(race_and_then_no_end, make_geometry(1, BLOCK), 0)
    with pytest.raises(Race):
        run_launch(call, arguments)
    with pytest.raises(VirtualGpuError) as caught:
        trace(race_and_then_no_end, 1, BLOCK, *arguments)
    assert [finding.kind for finding in caught.value.earlier] == ["race"]
    log = LaunchLog()
    with pytest.raises(VirtualGpuError):
        log(call, arguments)
    assert [finding.kind for finding in log.flaws] == ["race"]
    assert len(log.kernels[0].errors) == 1
