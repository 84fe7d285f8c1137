"""`python -m tensor_kernels pairs-alone`: time `mma_naive` with loads of a that bring pairs.

`single_loads` is `mma_naive` for sizes that fit, so that no load asks whether it is inside. `pairs`
is the same, but each load of a brings a lane two elements of a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from numba import cuda, float32, uint32
from numba.types import float16

from tensor_kernels import LADDER
from tensor_kernels.mma_naive import STEP
from utils.intrinsics.tensor import load_pair, mma_m16n8k8
from utils.ladder.shapes import GemmShape
from utils.ladder.step import Variant
from utils.machine import devices
from utils.measuring import measure
from utils.measuring.experiment import Experiment
from utils.measuring.kernel_times import ProductTime

SIZES = (4096,)


@cuda.jit(device=True)
def by_elements(of_a, a, y, z):
    """Load the four elements of a that a lane holds into `of_a`, one by one.

    y: the upper one of its two rows. z: the first one of its two columns.
    """
    for i in range(4):
        of_a[i] = a[y + i // 2 * 8, z + i % 2]


@cuda.jit(device=True)
def by_pairs(of_a, a, y, z):
    """Load the same elements by two loads; y, z: as in `by_elements`."""
    for i in range(2):
        of_a[2 * i], of_a[2 * i + 1] = load_pair(a, (y + i * 8, z))


def kernel_with(load_a: Callable):
    """Return a kernel (a, b, c) for c = a·b without guards, of one warp per 16×8 of c.

    load_a: a device function (of_a, a, y, z) that loads a lane's four elements of a into of_a.
    """

    @cuda.jit
    def with_loads(a, b, c):
        sums = cuda.local.array(4, float32)
        of_a = cuda.local.array(4, float16)
        of_b = cuda.local.array(2, float16)
        lane = uint32(cuda.threadIdx.x)
        group, pair = lane // 4, lane % 4 * 2
        row, col = uint32(cuda.blockIdx.y * 16), uint32(cuda.blockIdx.x * 8)
        for i in range(4):
            sums[i] = float32(0)
        for start in range(0, a.shape[1], 8):
            load_a(of_a, a, row + group, start + pair)
            for i in range(2):
                of_b[i] = b[start + pair + i, col + group]
            mma_m16n8k8(sums, of_a, of_b)
        for i in range(4):
            c[row + group + i // 2 * 8, col + pair + i % 2] = sums[i]

    return with_loads


def variant_with(name: str, load_a: Callable) -> Variant:
    """Return a variant called `name` of `kernel_with(load_a)`, with the launch of `mma_naive`."""
    kernel = kernel_with(load_a)
    return replace(STEP, name=name, build=lambda: kernel).variant()


def variants() -> tuple[Variant, ...]:
    """Return `single_loads`, `pairs` and `mma_naive`, the order in which they are timed."""
    single, pairs = variant_with("single_loads", by_elements), variant_with("pairs", by_pairs)
    return single, pairs, STEP.variant()


def recorded_times() -> tuple[ProductTime, ...]:
    """Return the times of all devices that have a record, device by device; () if none has one."""
    return EXPERIMENT.recorded()


def measured(device: str, sizes: Sequence[int] = SIZES) -> Iterator[ProductTime]:
    """Yield a ProductTime per kernel for each size, the kernels in the order of `variants`.

    All kernels of a size come one after the other, and their repetitions are interleaved. cuBLAS
    takes its turn as well, as in the race of lesson 22, and has no row. `device` is the name for
    the rows, and `sizes` are the values of n, multiples of 16. Raises CourseError if a kernel's
    product is wrong at one of the sizes.
    """
    for n in sizes:
        shape = GemmShape(n, n, n)
        for row in measure.race(LADDER, variants(), shape, devices.current()):
            yield ProductTime(
                device, row.step, n, row.time_ms, row.time_ms_min, row.time_ms_max,
                row.sm_clock_mhz, row.date,
            )  # fmt: skip


EXPERIMENT = Experiment(
    name="pairs-alone",
    help="time mma_naive with loads of a that bring pairs",
    row=ProductTime,
    size="n",
    measured=measured,
)
COMMAND = EXPERIMENT.command()
