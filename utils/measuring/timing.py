"""Time executions: events on the GPU, a counter on the CPU, rivals interleaved in one loop.

A time is the median of at least seven repetitions after a warm-up that also compiles. Each
repetition contains enough executions to last about ten milliseconds, so that neither the clock's
resolution nor the cost of a launch shows. A sample is a pair: milliseconds per execution, and the
SM clock in MHz or None.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numba import cuda, uint32
from threadpoolctl import threadpool_limits

from utils.ladder.libraries import Execution
from utils.machine.versions import nvml

REPETITIONS = 7
REPETITION_MS = 10.0
# The driver's queue takes about a thousand launches; beyond it a launch waits for the GPU.
MOST_LAUNCHES = 512

Sample = tuple[float, float | None]


@dataclass(frozen=True)
class Timing:
    """The time of an execution over several repetitions.

    median_ms, min_ms, max_ms: milliseconds per execution. repetitions: their number. launches: the
    number of executions in one repetition. sm_clock_mhz: the median SM clock while the GPU worked;
    None without a GPU or without NVML.
    """

    median_ms: float
    min_ms: float
    max_ms: float
    repetitions: int
    launches: int
    sm_clock_mhz: float | None = None


def time_gpu(rivals: Sequence[Execution], repetitions: int = REPETITIONS) -> list[Timing]:
    """Time rivals on the GPU and return one Timing per rival, in their order.

    Each rival is a function that enqueues its work on the default stream. The rivals are
    interleaved within each repetition, so that a change of clock affects all of them.
    """
    clock = clock_reader()
    return _interleaved([_gpu_repetition(rival, clock) for rival in rivals], repetitions)


def time_cpu(
    rivals: Sequence[Execution],
    repetitions: int = REPETITIONS,
    repetition_ms: float = REPETITION_MS,
) -> list[Timing]:
    """Time rivals on one CPU thread and return one Timing per rival, in their order.

    BLAS libraries are limited to one thread as well. A repetition takes about `repetition_ms`; on a
    busy machine, many short repetitions find more undisturbed moments than few long ones.
    """
    with threadpool_limits(limits=1):
        samplers = [_cpu_repetition(rival, repetition_ms) for rival in rivals]
        return _interleaved(samplers, repetitions)


def _interleaved(
    rivals: Sequence[tuple[Callable[[], Sample], int]], repetitions: int
) -> list[Timing]:
    """Take `repetitions` samples of each rival, alternately, and return one Timing per rival.

    A rival is (a function that takes one sample, the number of executions per sample). A sample is
    the pair (ms per execution, SM clock in MHz or None).
    """
    rounds = [[sample() for sample, _ in rivals] for _ in range(repetitions)]
    return [
        _summary(samples, launches)
        for samples, (_, launches) in zip(zip(*rounds, strict=True), rivals, strict=True)
    ]


def _summary(samples: Sequence[Sample], launches: int) -> Timing:
    """Return the Timing of a rival's samples, which are pairs (ms per execution, MHz or None).

    `launches` is the number of executions in a sample.
    """
    times = [milliseconds for milliseconds, _ in samples]
    clocks = [mhz for _, mhz in samples if mhz is not None]
    return Timing(
        median_ms=statistics.median(times),
        min_ms=min(times),
        max_ms=max(times),
        repetitions=len(times),
        launches=launches,
        sm_clock_mhz=statistics.median(clocks) if clocks else None,
    )


def _launches_for(milliseconds: float, repetition_ms: float = REPETITION_MS) -> int:
    """Return how many executions of this length fill a repetition: 1 to `MOST_LAUNCHES`.

    Both lengths are in milliseconds.
    """
    return max(1, min(MOST_LAUNCHES, round(repetition_ms / max(milliseconds, 1e-6))))


def _cpu_repetition(rival: Execution, repetition_ms: float) -> tuple[Callable[[], Sample], int]:
    """Return (a function that takes a sample, executions per sample), after a warm-up.

    A sample is the pair (ms per execution, None).
    """
    rival()  # compiles
    launches = _launches_for(_cpu_sample(rival, 1)[0], repetition_ms)
    return partial(_cpu_sample, rival, launches), launches


def _cpu_sample(rival: Execution, launches: int) -> Sample:
    """Return the pair (ms per execution, None) of this many executions on the CPU."""
    start = time.perf_counter()
    for _ in range(launches):
        rival()
    return 1e3 * (time.perf_counter() - start) / launches, None


def _gpu_repetition(
    rival: Execution, clock: Callable[[], float | None]
) -> tuple[Callable[[], Sample], int]:
    """Return (a function that takes a sample, executions per sample), after a warm-up.

    A sample is the pair (ms per execution, SM clock in MHz or None). `clock()` returns that clock.
    """
    rival()  # compiles
    cuda.synchronize()
    start = time.perf_counter()
    rival()
    enqueue_us = 1e6 * (time.perf_counter() - start)
    cuda.synchronize()
    launches = _launches_for(_gpu_sample(rival, 1, enqueue_us, clock)[0])
    return partial(_gpu_sample, rival, launches, enqueue_us, clock), launches


def _gpu_sample(
    rival: Execution, launches: int, enqueue_us: float, clock: Callable[[], float | None]
) -> Sample:
    """Return the pair (ms per execution, SM clock in MHz or None) of this many executions.

    They are queued before the GPU starts. enqueue_us: the host's time to enqueue one execution, in
    microseconds. `clock()` returns the clock.
    """
    start, end = cuda.event(), cuda.event()
    # Python needs longer to enqueue a small kernel than the GPU to run it. The GPU is kept waiting
    # until all launches are in its queue; then it runs them without a gap.
    hold_gpu(microseconds=20 + 2 * enqueue_us * launches)
    start.record()
    for _ in range(launches):
        rival()
    end.record()
    # Read while the GPU is still working, at the clock that it uses.
    mhz = clock()
    end.synchronize()
    return start.elapsed_time(end) / launches, mhz


@cuda.jit
def _sleep(microseconds):
    """Keep one thread of the GPU asleep for about this many microseconds."""
    for _ in range(microseconds):
        cuda.nanosleep(uint32(1000))


def hold_gpu(microseconds: float) -> None:
    """Enqueue a kernel that keeps the default stream busy for about this long, at most 50 ms.

    It has no effect before compute capability 7.0.
    """
    if cuda.get_current_device().compute_capability >= (7, 0):
        _sleep[1, 1](np.int32(min(microseconds, 50_000)))


def clock_reader() -> Callable[[], float | None]:
    """Return a function () that returns the current GPU's SM clock in MHz.

    The function always returns None if NVML is missing or does not know the GPU.
    """
    management = nvml()
    if management is None:
        return lambda: None
    try:
        handle = management.nvmlDeviceGetHandleByUUID(cuda.get_current_device().uuid)
    except management.NVMLError:  # a part of a GPU has no clock of its own
        return lambda: None
    return partial(management.nvmlDeviceGetClockInfo, handle, management.NVML_CLOCK_SM)
