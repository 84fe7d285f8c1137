"""Experiments on latency hiding: arithmetic against threads, copies against occupancy, latencies.

These are the experiments of V. Volkov, "Better Performance at Lower Occupancy" (GPU Technology
Conference, 2010), on the current GPU. Each yields points of curves: a rate, and its share of the
rate that the device reaches without obstacles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numba import cuda

from latency_kernels import arithmetic, chase, copies, fma_loop
from utils.division import cdiv
from utils.errors import CourseError
from utils.ladder.problems import Problem, draw, judge, poisoned
from utils.ladder.shapes import ReduceShape
from utils.machine.devices import KIB, Device, fraction_of_peak
from utils.measuring.timing import Timing, time_gpu

ILPS = range(1, 9)
THREADS = (32, 64, 96, 128, 192, 256, 320, 384, 512, 576, 768, 1024)
FMAS_PER_SM = 2**26
CEILING = ReduceShape(2**28)
WARP = 32
# ‖out - reference‖ / ‖reference‖ of a few dozen roundings: 32·u, with u = 2^-24.
ERROR_OF_CHAINS = 2.0**-19

# Elements per thread as in Volkov 2010: how many floats at once, and how often.
COPIES = ((1, 1), (1, 2), (1, 4), (1, 8), (2, 8), (4, 8))
# (threads per block, blocks per SM). A launch gets at most 48 KiB of dynamic shared memory, so the
# number of blocks per SM cannot be limited to fewer than four.
OCCUPANCIES = ((32, 4), (32, 5), (32, 6), (64, 4), (64, 5), (64, 6), (64, 8), (64, 10), (64, 12),
               (64, 16), (64, 20), (64, 24), (64, 32))  # fmt: skip
COPIED = 2**28
CHECKED_BLOCKS = 3
RESERVED_BYTES = KIB  # the shared memory that the system reserves in each block
MOST_SHARED_BYTES = 48 * KIB

# The stride and the length of a chase: one element per line of 128 bytes, in memory or cache.
APART = 32
PLACES = {"L2": 2**16, "DRAM": 2**23}
STEPS = {"shared": 2**19, "L2": 2**15, "DRAM": 2**13}


@dataclass(frozen=True)
class Point:
    """One measurement. Columns that do not apply are None.

    experiment: "arithmetic", "copy" or "latency".
    what: the curve, such as "ILP 2" or "8 float4", or the memory whose latency it is.
    floats: the floats that one thread has in flight, or its number of chains.
    sms, threads_per_sm: the number of SMs in use, and of threads on each.
    occupancy: the threads per SM over the most that an SM can hold, from 0 to 1.
    time_ms, time_ms_min, time_ms_max: median, minimum and maximum of the repetitions.
    value: in `unit`, which is GFLOP/s, GB/s or cycles.
    share: the fraction of the FMA loop's rate on as many SMs in the same run, or of the data
        sheet's bandwidth.
    sm_clock_mhz: the SM clock meanwhile, or None if it cannot be read.
    """

    experiment: str
    what: str
    floats: int | None
    sms: int
    threads_per_sm: int
    occupancy: float
    time_ms: float
    time_ms_min: float
    time_ms_max: float
    value: float
    unit: str
    share: float | None
    sm_clock_mhz: float | None


def measure(device: Device) -> Iterator[Point]:
    """Measure the current device for about a minute, and yield all its points.

    `device` has its facts. Raises CourseError if a kernel computes a wrong result, or if NVML does
    not report a clock, because cycles are time times clock.
    """
    # On one SM there is one block; further threads would run on another SM.
    yield from arithmetic_points(device, 1, ILPS, THREADS)
    yield from arithmetic_points(device, device.sms, ILPS, (*THREADS, _threads_per_sm()))
    x = cuda.to_device(draw("uniform", COPIED, seed=1))
    out = cuda.device_array(COPIED, np.float32)
    for width, count in COPIES:
        for block in {block for block, _ in OCCUPANCIES}:
            _check_copy(width, count, block)
        for block, blocks in OCCUPANCIES:
            yield _copy(device, width, count, (block, blocks), (x, out))
    yield from _latencies()


def arithmetic_points(
    device: Device, sms: int, ilps: Iterable[int], threads: Iterable[int]
) -> Iterator[Point]:
    """Measure chains of multiply-adds on `sms` SMs; yield a point per number of chains and threads.

    `ilps` are numbers of chains per thread. `threads` are numbers of threads per SM; with sms=1 at
    most 1024, which is one block. The shares are fractions of the FMA loop's rate. Raises
    CourseError if a kernel computes a wrong result.
    """
    ceiling = _ceiling() * sms / device.sms
    for ilp in ilps:
        _check_arithmetic(ilp)
        for count in threads:
            yield _arithmetic(ilp, sms, count, ceiling)


def _ceiling() -> float:
    """Measure the FMA loop on all SMs and return its rate in GFLOP/s."""
    step = fma_loop.STEP
    x = cuda.to_device(step.task.problem(CEILING, "uniform").inputs[0])
    out = cuda.device_array(step.task.output_shape(CEILING.elements), np.float32)
    (timing,) = time_gpu([step.variant().execution(CEILING, (x,), out)])
    return step.task.work(CEILING).flops / timing.median_ms / 1e6


def _check_arithmetic(ilp: int) -> None:
    """Raise CourseError unless the kernel with `ilp` chains computes what float64 computes.

    The norm of the error may be ERROR_OF_CHAINS times that of the result.
    """
    x, turns = draw("uniform", WARP + 1 + ilp, seed=1), 2
    lane = np.arange(WARP)
    b, *chains = (x.astype(np.float64)[lane + at] for at in range(1 + ilp))
    for _ in range(turns * arithmetic.UNROLL):
        chains = [chain * b + b for chain in chains]
    _check(arithmetic.build(ilp)[1, WARP], (x, turns), sum(chains), ERROR_OF_CHAINS)


def _check_copy(width: int, count: int, block: int) -> None:
    """Raise CourseError unless the copy with these constants equals its input."""
    x = draw("uniform", CHECKED_BLOCKS * block * copies.FLOATS, seed=1)
    kernel = copies.build(width, count, block)[CHECKED_BLOCKS, block]
    _check(kernel, (x, copies.turns_of(width, count)), x, 0.0)


def _check(kernel, inputs: tuple, reference: np.ndarray, allowed: float) -> None:
    """Raise CourseError unless a kernel's output is near the reference.

    `kernel` is a kernel with its grid and block, and its arguments are inputs[0] on the device, the
    output and the other inputs. `allowed` is the largest norm of the error, relative to that of the
    reference.
    """
    x, *numbers = inputs
    out = cuda.to_device(poisoned(reference.shape))
    kernel(cuda.to_device(x), out, *numbers)
    scale = float(np.linalg.norm(reference))
    verdict = judge(Problem(None, (x,), reference, scale, allowed), out.copy_to_host())
    if not verdict.passed:
        raise CourseError(f"A kernel of the experiments is {verdict}; nothing is measured with it.")


def _arithmetic(ilp: int, sms: int, threads: int, ceiling: float) -> Point:
    """Measure `ilp` chains per thread with `threads` threads per SM; return a point in GFLOP/s.

    A block has at most 1024 threads, so an SM gets more blocks if needed. `ceiling` is the rate in
    GFLOP/s of which the point's share is a fraction.
    """
    per_sm = cdiv(threads, 1024)
    x = cuda.to_device(draw("uniform", WARP + 1 + ilp, seed=1))
    out = cuda.device_array(sms * threads, np.float32)
    turns = FMAS_PER_SM // (threads * ilp * arithmetic.UNROLL)
    kernel = arithmetic.build(ilp)[sms * per_sm, threads // per_sm]
    (timing,) = time_gpu([partial(kernel, x, out, turns)])
    flops = 2 * turns * arithmetic.UNROLL * ilp * threads * sms
    value = flops / timing.median_ms / 1e6
    return Point(
        experiment="arithmetic",
        what=f"ILP {ilp}",
        floats=ilp,
        sms=sms,
        threads_per_sm=threads,
        occupancy=threads / _threads_per_sm(),
        **_times(timing),
        value=value,
        unit="GFLOP/s",
        share=value / ceiling,
    )


def _copy(
    device: Device, width: int, count: int, residency: tuple[int, int], arrays: tuple
) -> Point:
    """Measure a copy whose threads have `count` loads of `width` floats (1, 2 or 4) in flight.

    `residency` holds the threads per block and the most blocks per SM, `arrays` the input and the
    output on the device. Returns a point in GB/s. Raises CourseError if it is above the data
    sheet's bandwidth.
    """
    block, blocks = residency
    kernel = copies.build(width, count, block)
    shared = shared_bytes(device, blocks)
    launch = kernel[COPIED // (block * copies.FLOATS), block, 0, shared]
    turns = copies.turns_of(width, count)
    (timing,) = time_gpu([partial(launch, *arrays, turns)])
    threads = block * _resident_blocks(kernel, block, shared, device.sms)
    value = 2 * 4 * COPIED / timing.median_ms / 1e6
    what = f"{count} {'float' if width == 1 else f'float{width}'}"
    return Point(
        experiment="copy",
        what=what,
        floats=width * count,
        sms=device.sms,
        threads_per_sm=threads,
        occupancy=threads / _threads_per_sm(),
        **_times(timing),
        value=value,
        unit="GB/s",
        share=fraction_of_peak(value, device.peak_gb_per_s, f"copying {what} per thread"),
    )


def shared_bytes(device: Device, blocks: int) -> int:
    """Return the dynamic shared memory per block, in bytes, that limits an SM to `blocks` blocks.

    It is the smallest such number. Registers and threads may limit an SM to fewer blocks. Raises
    CourseError if that is more than a launch may request.
    """
    room = int(device.shared_kib_per_sm * KIB)
    needed = max(0, room // (blocks + 1) - RESERVED_BYTES + 1)
    if needed > MOST_SHARED_BYTES:
        raise CourseError(
            f"To keep an SM of {device.name} at {blocks} blocks, each needs {needed} bytes of "
            f"dynamic shared memory, and a launch gets {MOST_SHARED_BYTES}: allow more blocks."
        )
    return needed


def _resident_blocks(kernel, block: int, shared: int, sms: int) -> int:
    """Return the blocks per SM according to the driver, for a kernel compiled once.

    `block` is the threads per block, and `shared` the dynamic shared memory in bytes. The driver's
    limits include registers and the number of blocks that an SM can hold.
    """
    (compiled,) = kernel.overloads.values()
    return compiled.max_cooperative_grid_blocks(block, shared) // sms


def _threads_per_sm() -> int:
    """Return the most threads that an SM of the current device can hold."""
    return cuda.get_current_device().MAX_THREADS_PER_MULTIPROCESSOR


def _latencies() -> Iterator[Point]:
    """Measure latencies, and yield a point in cycles of the SM clock for each.

    The first is of a multiply-add, the others are of a load from each of the memories in STEPS.
    """
    x = cuda.to_device(draw("uniform", WARP + 2, seed=1))
    out = cuda.device_array(WARP, np.float32)
    turns = FMAS_PER_SM // (WARP * arithmetic.UNROLL)
    (timing,) = time_gpu([partial(arithmetic.build(1)[1, WARP], x, out, turns)])
    yield _latency("FMA", timing, turns * arithmetic.UNROLL)
    for what, steps in STEPS.items():
        words = chase.SHARED_WORDS if what == "shared" else PLACES[what]
        following = chase.tour(words, 1 if what == "shared" else APART)
        launch = chase.chase_shared[1, WARP] if what == "shared" else chase.chase_global[1, 1]
        at = cuda.to_device(np.zeros(1, np.uint32))
        # Each launch goes on where the last one stopped, so that it finds no element in the cache.
        (timing,) = time_gpu([partial(launch, cuda.to_device(following), at, steps)])
        yield _latency(what, timing, steps)


def _latency(what: str, timing: Timing, steps: int) -> Point:
    """Return the point of a chain of `steps` dependent operations: its cycles per operation.

    Raises CourseError if the timing has no clock.
    """
    if timing.sm_clock_mhz is None:
        raise CourseError(
            "NVML reports no clock for this GPU, and cycles are time times clock: install "
            "nvidia-ml-py, or use a whole GPU."
        )
    return Point(
        experiment="latency",
        what=what,
        floats=1,
        sms=1,
        threads_per_sm=1,
        occupancy=1 / _threads_per_sm(),
        **_times(timing),
        value=timing.median_ms * 1e3 * timing.sm_clock_mhz / steps,
        unit="cycles",
        share=None,
    )


def _times(timing: Timing) -> dict[str, float | None]:
    """Return a dict from name to value of the columns of a Point that come from a timing.

    They are time_ms (the median), time_ms_min, time_ms_max, and sm_clock_mhz, which is None if the
    clock cannot be read.
    """
    return {
        "time_ms": timing.median_ms,
        "time_ms_min": timing.min_ms,
        "time_ms_max": timing.max_ms,
        "sm_clock_mhz": timing.sm_clock_mhz,
    }
