"""`python -m reduce_kernels remainder`: time `reduce0` with and without its integer remainder.

Both kernels keep the same lanes busy, so they diverge alike. Their repetitions are interleaved with
those of `reduce1` to `reduce3`, and of two pairs whose loops compute with 32 bits throughout: Numba
gives the result of `uint32 >> uint32` 64 bits, and compares a uint32 with an int32 in 64 bits. In
the second pair, `masks_up` and `masks_down`, both trees choose their lanes by `tid & mask == 0`, so
their loops have the same form.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numba import cuda, float32, uint32

from reduce_kernels import LADDER
from utils.errors import CourseError
from utils.ladder.problems import draw
from utils.ladder.shapes import ReduceShape
from utils.ladder.step import Step, Variant
from utils.measuring import rows
from utils.measuring.experiment import Experiment
from utils.measuring.kernel_times import ArrayTime
from utils.measuring.timing import time_gpu
from utils.paths import DATA

BLOCK = 256
ELEMENTS = (2**25, 2**30)


@cache
def build(BLOCK):
    """Return the kernel (x, partials) of reduce0 with `&` instead of `%`.

    Each block of BLOCK threads, a power of two, sums BLOCK floats; block i stores its sum in
    partials[i].
    """

    @cuda.jit
    def without_remainder(x, partials):
        shared = cuda.shared.array(BLOCK, float32)
        tid = uint32(cuda.threadIdx.x)
        i = cuda.grid(1)
        shared[tid] = x[i] if i < x.size else float32(0)
        cuda.syncthreads()

        stride = uint32(1)
        while stride < cuda.blockDim.x:
            # 2·stride is a power of two, so the lower bits of tid are its remainder.
            if tid & uint32(2 * stride - 1) == 0:
                shared[tid] += shared[tid + stride]
            cuda.syncthreads()
            stride = uint32(2 * stride)

        if tid == 0:
            partials[cuda.blockIdx.x] = shared[0]

    return without_remainder


@cache
def build_32(BLOCK):
    """Return `without_remainder` with a loop test of 32 bits.

    BLOCK is the number of threads per block, a power of two. The kernel (x, partials) stores the
    sum of block i's BLOCK floats in partials[i].
    """

    @cuda.jit
    def without_remainder_32(x, partials):
        shared = cuda.shared.array(BLOCK, float32)
        tid = uint32(cuda.threadIdx.x)
        i = cuda.grid(1)
        shared[tid] = x[i] if i < x.size else float32(0)
        cuda.syncthreads()

        stride = uint32(1)
        while stride < uint32(cuda.blockDim.x):
            if tid & uint32(2 * stride - 1) == 0:
                shared[tid] += shared[tid + stride]
            cuda.syncthreads()
            stride = uint32(2 * stride)

        if tid == 0:
            partials[cuda.blockIdx.x] = shared[0]

    return without_remainder_32


@cache
def build_halves_32(BLOCK):
    """Return `reduce2` with a stride of 32 bits.

    BLOCK is the number of threads per block, a power of two. The kernel (x, partials) stores the
    sum of block i's BLOCK floats in partials[i].
    """

    @cuda.jit
    def reduce2_32(x, partials):
        shared = cuda.shared.array(BLOCK, float32)
        tid = uint32(cuda.threadIdx.x)
        i = cuda.grid(1)
        shared[tid] = x[i] if i < x.size else float32(0)
        cuda.syncthreads()

        stride = uint32(uint32(cuda.blockDim.x) >> uint32(1))
        while stride > 0:
            if tid < stride:
                shared[tid] += shared[tid + stride]
            cuda.syncthreads()
            stride = uint32(stride >> uint32(1))

        if tid == 0:
            partials[cuda.blockIdx.x] = shared[0]

    return reduce2_32


@cache
def build_masks_up(BLOCK):
    """Return the kernel (x, partials) that adds the pairs of reduce0, with masks 1, 3, 7, …

    Each block of BLOCK threads, a power of two, sums BLOCK floats; block i stores its sum in
    partials[i].
    """

    @cuda.jit
    def masks_up(x, partials):
        shared = cuda.shared.array(BLOCK, float32)
        tid = uint32(cuda.threadIdx.x)
        i = cuda.grid(1)
        shared[tid] = x[i] if i < x.size else float32(0)
        cuda.syncthreads()

        size = uint32(cuda.blockDim.x)
        stride = uint32(1)
        mask = stride
        while stride != size:
            if uint32(tid & mask) == 0:
                shared[tid] += shared[tid + stride]
            cuda.syncthreads()
            stride = uint32(stride << uint32(1))
            mask = uint32(mask + stride)

        if tid == 0:
            partials[cuda.blockIdx.x] = shared[0]

    return masks_up


@cache
def build_masks_down(BLOCK):
    """Return the kernel (x, partials) that adds the pairs of reduce2, with masks 128, 192, 224, …

    The masks are those of 256 threads. Each block of BLOCK threads, a power of two, sums BLOCK
    floats; block i stores its sum in partials[i].
    """

    @cuda.jit
    def masks_down(x, partials):
        shared = cuda.shared.array(BLOCK, float32)
        tid = uint32(cuda.threadIdx.x)
        i = cuda.grid(1)
        shared[tid] = x[i] if i < x.size else float32(0)
        cuda.syncthreads()

        stride = uint32(uint32(cuda.blockDim.x) >> uint32(1))
        mask = stride
        while stride != 0:
            if uint32(tid & mask) == 0:
                shared[tid] += shared[tid + stride]
            cuda.syncthreads()
            stride = uint32(stride >> uint32(1))
            mask = uint32(mask + stride)

        if tid == 0:
            partials[cuda.blockIdx.x] = shared[0]

    return masks_down


@cache
def build_warps_leave(BLOCK):
    """Return `reduce3` without idle warps: a thread with nothing left to add leaves the kernel.

    BLOCK is the number of threads per block, a power of two. The kernel (x, partials) stores the
    sum of block i's 2·BLOCK floats in partials[i].
    """

    @cuda.jit
    def warps_leave(x, partials):
        shared = cuda.shared.array(BLOCK, float32)
        tid = uint32(cuda.threadIdx.x)
        i = uint32(cuda.blockIdx.x) * (2 * BLOCK) + tid

        total = x[i] if i < x.size else float32(0)
        if i + BLOCK < x.size:
            total += x[i + BLOCK]
        shared[tid] = total
        cuda.syncthreads()

        stride = uint32(cuda.blockDim.x) >> uint32(1)
        while stride > 0:
            # The barrier below waits only for the threads that have not ended.
            if tid >= stride:
                return
            shared[tid] += shared[tid + stride]
            cuda.syncthreads()
            stride = stride >> uint32(1)

        if tid == 0:
            partials[cuda.blockIdx.x] = shared[0]

    return warps_leave


def _like(step: str, name: str, idea: str, build: Callable) -> Step:
    """Return a step that only this experiment times, launched as the ladder's `step` is.

    `name` and `idea` are the new step's, and `build(BLOCK)` returns its kernel.
    """
    same = LADDER.step(step)
    return replace(same, module=__name__, name=name, idea=idea, previous=step, build=build)


WITHOUT_REMAINDER = _like("reduce0", "without_remainder", "reduce0 with & instead of %", build)
IN_32_BITS = (
    _like("reduce0", "without_remainder_32", "& instead of %, in 32 bits", build_32),
    _like("reduce2", "reduce2_32", "reduce2 with a stride of 32 bits", build_halves_32),
)
MASKS = (
    _like("reduce0", "masks_up", "reduce0 with masks 1, 3, 7, …", build_masks_up),
    _like("reduce2", "masks_down", "reduce2 with masks 128, 192, 224, …", build_masks_down),
)

# This kernel is counted and has no recorded time, so it is not among `variants()`.
WARPS_LEAVE = _like("reduce3", "warps_leave", "idle warps leave", build_warps_leave)


@dataclass(frozen=True)
class IssueSlots:
    """A row of `issue_slots.csv`: what the profiler counted in one launch of a kernel.

    elements: the number of float32 that are summed. instructions: the number of instructions that
    all warps executed. busy: the fraction of the SMs' cycles in which a scheduler issues an
    instruction, on average over the schedulers. device, kernel: their names.
    """

    device: str
    kernel: str
    elements: int
    instructions: int
    busy: float


@dataclass(frozen=True)
class WarpState:
    """A row of `warp_states.csv`: how long the warps of a kernel are in one state.

    elements: the number of float32 that are summed. state: as the profiler names it, such as
    "barrier"; a warp that issues is "selected", and one that could issue is "not_selected". cycles:
    how long a warp is in this state per instruction that it issues, on average. device, kernel:
    their names.
    """

    device: str
    kernel: str
    elements: int
    state: str
    cycles: float


def variants() -> tuple[Variant, ...]:
    """Return the nine kernels in the order in which they are timed, with blocks of 256 threads.

    They are reduce0, reduce0 without a remainder, reduce1, reduce2 and reduce3, then reduce0
    without a remainder and reduce2 with indices of 32 bits, then the two trees with masks.
    """
    first, *others = (LADDER.step(f"reduce{number}") for number in range(4))
    steps = (first, WITHOUT_REMAINDER, *others, *IN_32_BITS, *MASKS)
    return tuple(step.variant(BLOCK=BLOCK) for step in steps)


def recorded_times() -> tuple[ArrayTime, ...]:
    """Return the times of all devices that have a record, device by device; () if none has one."""
    return EXPERIMENT.recorded()


def recorded_slots() -> tuple[IssueSlots, ...]:
    """Return the rows of the files `issue_slots.csv` of all devices; () if there is no file."""
    files = sorted((DATA / "measured").glob("*/issue_slots.csv"))
    return tuple(row for file in files for row in rows.read(file, IssueSlots))


def recorded_states() -> tuple[WarpState, ...]:
    """Return the rows of the files `warp_states.csv` of all devices; () if there is no file."""
    files = sorted((DATA / "measured").glob("*/warp_states.csv"))
    return tuple(row for file in files for row in rows.read(file, WarpState))


def measured(device: str, lengths: Sequence[int] = ELEMENTS) -> Iterator[ArrayTime]:
    """Yield the time of each kernel at each length; the repetitions of the kernels are interleaved.

    `device` is the name for the rows, and `lengths` are numbers of float32. Raises CourseError if a
    kernel's sum of whole numbers is wrong.
    """
    for elements in lengths:
        shape = ReduceShape(elements)
        x = cuda.to_device(draw("uniform", (elements,), 1))
        out = cuda.device_array(1, np.float32)
        for variant in variants():
            _verify(variant)
        timings = time_gpu([variant.execution(shape, (x,), out) for variant in variants()])
        for variant, timing in zip(variants(), timings, strict=True):
            yield ArrayTime(
                device, variant.step.name, elements, timing.median_ms, timing.min_ms,
                timing.max_ms, timing.sm_clock_mhz, datetime.date.today().isoformat(),
            )  # fmt: skip


def _verify(variant: Variant) -> None:
    """Raise CourseError unless the kernel sums 5000 whole numbers without an error."""
    shape = ReduceShape(5000)
    x, out = np.arange(5000, dtype=np.float32) % 7, cuda.to_device(np.full(1, np.nan, np.float32))
    variant.execution(shape, (cuda.to_device(x),), out)()
    if out.copy_to_host()[0] != x.sum():
        raise CourseError(f"The sum of {variant} is wrong, so it is not timed: mend the kernel.")


EXPERIMENT = Experiment(
    name="remainder",
    help="time reduce0 with and without its integer remainder",
    row=ArrayTime,
    size="elements",
    measured=measured,
)
COMMAND = EXPERIMENT.command()
