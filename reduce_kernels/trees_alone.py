"""`python -m reduce_kernels trees-alone`: time `reduce5` with other trees, and without a tree.

All kernels have the loads of `reduce5`, two elements per thread. `last_by_shuffles` adds the last
64 words by shuffles in one warp. `all_by_shuffles` has the tree of `reduce7`: shuffles in each
warp, one barrier, and shuffles in warp 0. `without_tree` loads and adds two elements per thread and
nothing more, so its sum is wrong on purpose: only the first thread of a block stores its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from numba import cuda, float32, uint32

from reduce_kernels import LADDER
from reduce_kernels.reduce7 import ALL_LANES
from utils.ladder.step import Step, Variant
from utils.measuring.experiment import Experiment
from utils.measuring.kernel_times import ArrayTime, require_right_sum, time_sums

BLOCK = 256
ELEMENTS = (2**25, 2**30)
TOO_LARGE = 1e30  # for a sum of two elements


@cache
def build_last(BLOCK):
    """Return the kernel (x, partials) of reduce5 with shuffles for its last steps.

    BLOCK, a power of two of at least 64, is the number of threads per block. Block i stores the sum
    of its 2·BLOCK floats in partials[i].
    """

    @cuda.jit
    def last_by_shuffles(x, partials):
        shared = cuda.shared.array(BLOCK, float32)
        tid = uint32(cuda.threadIdx.x)
        i = uint32(cuda.blockIdx.x) * (2 * BLOCK) + tid

        total = x[i] if i < x.size else float32(0)
        if i + BLOCK < x.size:
            total += x[i + BLOCK]
        shared[tid] = total
        cuda.syncthreads()

        stride = uint32(BLOCK >> 1)
        while stride > 32:
            if tid < stride:
                shared[tid] += shared[tid + stride]
            cuda.syncthreads()
            stride = stride >> uint32(1)
        if tid < 32:
            total = shared[tid] + shared[tid + uint32(32)]
            for step in range(5):
                total += cuda.shfl_down_sync(ALL_LANES, total, 16 >> step)
            if tid == 0:
                partials[cuda.blockIdx.x] = total

    return last_by_shuffles


@cache
def build_all(BLOCK):
    """Return the kernel (x, partials) with the loads of reduce5 and the tree of reduce7.

    BLOCK, a multiple of 32, is the number of threads per block. Block i stores the sum of its
    2·BLOCK floats in partials[i].
    """
    WARPS = BLOCK // 32

    @cuda.jit
    def all_by_shuffles(x, partials):
        of_warps = cuda.shared.array(WARPS, float32)
        tid = uint32(cuda.threadIdx.x)
        i = uint32(cuda.blockIdx.x) * (2 * BLOCK) + tid

        total = x[i] if i < x.size else float32(0)
        if i + BLOCK < x.size:
            total += x[i + BLOCK]
        for step in range(5):
            total += cuda.shfl_down_sync(ALL_LANES, total, 16 >> step)
        if tid % uint32(32) == 0:
            of_warps[tid // uint32(32)] = total
        cuda.syncthreads()

        if tid < 32:
            total = of_warps[tid] if tid < WARPS else float32(0)
            for step in range(5):
                total += cuda.shfl_down_sync(ALL_LANES, total, 16 >> step)
            if tid == 0:
                partials[cuda.blockIdx.x] = total

    return all_by_shuffles


@cache
def build_without(BLOCK):
    """Return the kernel (x, partials) with the loads of reduce5 and no tree.

    BLOCK is the number of threads per block. The first thread of block i stores the sum of its own
    two floats in partials[i].
    """

    @cuda.jit
    def without_tree(x, partials):
        tid = uint32(cuda.threadIdx.x)
        i = uint32(cuda.blockIdx.x) * (2 * BLOCK) + tid
        total = x[i] if i < x.size else float32(0)
        if i + BLOCK < x.size:
            total += x[i + BLOCK]
        # Without the second condition only the first thread would load anything.
        if tid == 0 or total > float32(TOO_LARGE):
            partials[cuda.blockIdx.x] = total

    return without_tree


def _own(name: str, idea: str, build) -> Step:
    """Return a step of this experiment, which has the launch and the second pass of `reduce5`.

    `name` and `idea` are the new step's, and `build(BLOCK)` returns its kernel.
    """
    like = LADDER.step("reduce5")
    return replace(like, module=__name__, name=name, idea=idea, previous="reduce5", build=build)


LAST = _own("last_by_shuffles", "reduce5 with shuffles for its last steps", build_last)
ALL = _own("all_by_shuffles", "reduce5 with the tree of reduce7", build_all)
WITHOUT = _own("without_tree", "reduce5 without its tree", build_without)


def variants() -> tuple[Variant, ...]:
    """Return the kernels in the order in which they are timed, with blocks of 256 threads.

    They are reduce3, reduce4 and reduce5, reduce5 with shuffles for its last steps and for its
    whole tree, and the one without a tree, which is the last.
    """
    steps = (*(LADDER.step(f"reduce{number}") for number in (3, 4, 5)), LAST, ALL, WITHOUT)
    return tuple(step.variant(BLOCK=BLOCK) for step in steps)


def recorded_times() -> tuple[ArrayTime, ...]:
    """Return the times of all devices that have a record, device by device; () if none has one."""
    return EXPERIMENT.recorded()


def measured(device: str, lengths: Sequence[int] = ELEMENTS) -> Iterator[ArrayTime]:
    """Yield an ArrayTime per kernel for each length, the kernels in the order of `variants`.

    All kernels of a length come one after the other, and their repetitions are interleaved.
    `device` is the name for the rows, and `lengths` are numbers of float32. Raises CourseError if a
    kernel does not add the elements that it should.
    """
    *right, without = variants()
    for variant in right:
        require_right_sum(variant)
    require_right_sum(without, slice(None, None, BLOCK))
    return time_sums(variants(), device, lengths)


EXPERIMENT = Experiment(
    name="trees-alone",
    help="time reduce5 with shuffles, and without a tree",
    row=ArrayTime,
    size="elements",
    measured=measured,
)
COMMAND = EXPERIMENT.command()
