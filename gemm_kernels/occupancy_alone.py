"""`python -m gemm_kernels occupancy-alone`: time products with fewer and fewer blocks on an SM.

A launch may ask for more shared memory than its kernel uses. Then an SM holds fewer blocks, and
nothing else changes: the machine code, the grid, and the blocks are the same. All kernels ask for
the largest carve-out of shared memory, so the L1 cache has the same size in all launches.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numba import cuda

from gemm_kernels import LADDER
from utils.division import cdiv
from utils.errors import CourseError
from utils.ladder.problems import draw
from utils.ladder.shapes import GemmShape
from utils.ladder.step import Launch, Variant
from utils.measuring.experiment import Experiment
from utils.measuring.kernel_times import require_right
from utils.measuring.rows import Date
from utils.measuring.timing import time_gpu

SIZES = (4096,)
VERIFIED = (GemmShape(128, 96, 160),)
WARP = 32
# Of an SM of compute capability 9.0, in bytes: its shared memory, the most that a block may have,
# what the driver takes of each block, and the unit of a block's shared memory.
SHARED_OF_SM, SHARED_OF_BLOCK, OF_DRIVER, UNIT = 233_472, 232_448, 1024, 128


@dataclass(frozen=True)
class ResidentTime:
    """The time of one kernel for n×n matrices with a number of blocks on each SM.

    kernel: the name of the kernel and its constants. blocks, warps: the resident blocks and warps
    per SM, as the driver says. shared_bytes: the dynamic shared memory per block. time_ms,
    time_ms_min, time_ms_max: median, minimum and maximum of the repetitions. sm_clock_mhz: the SM
    clock meanwhile; None if it cannot be read. date: the day of the measurement.
    """

    device: str
    kernel: str
    n: int
    blocks: int
    warps: int
    shared_bytes: int
    time_ms: float
    time_ms_min: float
    time_ms_max: float
    sm_clock_mhz: float | None
    date: Date


@cache
def kernels() -> dict[Variant, int]:
    """Return a dict from a variant of a step to the most blocks of it that an SM can hold.

    The SM is one of an H100 or H200, and the variant is launched as the course launches it.
    """
    step = LADDER.step
    return {
        step("naive").variant(): 8,
        step("tiled").variant(TILE=16): 8,
        step("tiled_dynamic").variant(TILE=16): 8,
        step("ilp").variant(GRAIN=8): 7,
        step("register_blocked").variant(BM=64, BN=64, TM=8, TN=4): 4,
        step("vectorized").variant(BM=64, BN=64, BK=16, TM=8, TN=8): 8,
    }


def shared_for(blocks: int, static_bytes: int) -> int:
    """Return the most dynamic shared memory with which `blocks` blocks fit on an SM, in bytes.

    `static_bytes` is the static shared memory of the kernel per block.
    """
    of_block = SHARED_OF_SM // blocks // UNIT * UNIT - OF_DRIVER
    return min(of_block, SHARED_OF_BLOCK) - static_bytes


def with_blocks(variant: Variant, most: int) -> list[Variant]:
    """Return the kernel of `variant` with `most` blocks on an SM, then with one less each, to 1.

    The first is launched as the course launches it, the others with more shared memory. Raises
    CourseError if the driver says another number of blocks.
    """
    kernel = cuda.jit(shared_memory_carveout="maxshared")(variant.kernel.py_func)
    kernel.compile(variant.step.signature)
    (compiled,) = kernel.overloads.values()
    function = compiled._codelibrary.get_cufunc()
    static_bytes = function.attrs.shared
    _allow(function, SHARED_OF_BLOCK - static_bytes)
    own = variant.launch(GemmShape(128, 128, 128))
    fewer = [shared_for(blocks, static_bytes) for blocks in range(most - 1, 0, -1)]
    return [
        _step(variant, kernel, function, most - less, shared_bytes)
        for less, shared_bytes in enumerate((own.shared_bytes, *fewer))
    ]


def _allow(function, shared_bytes: int) -> None:
    """Allow a loaded kernel this many bytes of dynamic shared memory per block.

    Raises CourseError if the driver refuses.
    """
    from cuda.bindings import driver

    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    code, handle = driver.cuKernelGetFunction(driver.CUkernel(int(function.handle)))
    codes = (code, *driver.cuFuncSetAttribute(handle, attribute, shared_bytes))
    if any(codes):
        raise CourseError(f"The driver refuses {shared_bytes:,} bytes of shared memory per block.")


def _step(variant: Variant, kernel, function, blocks: int, shared_bytes: int) -> Variant:
    """Return `variant` with the given kernel, launched with `shared_bytes` of dynamic memory.

    Raises CourseError unless an SM holds `blocks` blocks of it, by the driver.
    """
    threads = variant.launch(GemmShape(128, 128, 128)).threads
    held = cuda.current_context().get_active_blocks_per_multiprocessor(
        function, threads, shared_bytes
    )
    if held != blocks:
        raise CourseError(f"{variant} has {held} blocks on an SM, where {blocks} are wanted.")

    def launch(shape, **constants: int) -> Launch:
        return replace(variant.launch(shape), shared_bytes=shared_bytes)

    own = replace(variant.step, build=lambda **constants: kernel, launch=launch)
    return replace(variant, step=own)


def measured(device: str, sizes: Sequence[int] = SIZES) -> Iterator[ResidentTime]:
    """Yield a ResidentTime per kernel and number of blocks for each size, size by size.

    The kernels of a size have the order of `kernels`, each with its most blocks first, and the
    repetitions of all of them are interleaved. `device` is the name for the rows, and `sizes` are
    the values of n. Raises CourseError if a kernel's product is wrong, or if an SM cannot have the
    number of blocks that is wanted.
    """
    timed = {variant: with_blocks(variant, most) for variant, most in kernels().items()}
    every = [(one, len(group) - at) for group in timed.values() for at, one in enumerate(group)]
    for shape in VERIFIED:
        require_right(LADDER, [one for one, _ in every], shape)
    for n in sizes:
        shape = GemmShape(n, n, n)
        inputs = tuple(cuda.to_device(draw("uniform", (n, n), seed)) for seed in (1, 2))
        out = cuda.device_array((n, n), np.float32)
        timings = time_gpu([one.execution(shape, inputs, out) for one, _ in every])
        for (one, blocks), timing in zip(every, timings, strict=True):
            launch = one.launch(shape)
            yield ResidentTime(
                device, str(one), n, blocks, blocks * cdiv(launch.threads, WARP),
                launch.shared_bytes, timing.median_ms, timing.min_ms, timing.max_ms,
                timing.sm_clock_mhz, datetime.date.today().isoformat(),
            )  # fmt: skip


def recorded_times() -> tuple[ResidentTime, ...]:
    """Return the times of all devices that have a record, device by device; () if none has one."""
    return EXPERIMENT.recorded()


EXPERIMENT = Experiment(
    name="occupancy-alone",
    help="time products with fewer and fewer blocks on an SM",
    row=ResidentTime,
    size="warps",
    measured=measured,
)
COMMAND = EXPERIMENT.command()
