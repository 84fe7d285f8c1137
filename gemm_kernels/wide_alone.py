"""`python -m gemm_kernels wide-alone`: time register blocking with one change of `vectorized` each.

`padded_rows` is `register_blocked` with rows of a's tile that are one word longer, so that its
reads and stores need fewer wavefronts; nothing is wider. `transposed_tile` transposes that tile and
reads it 128 bits at a time; its global loads and stores are those of `register_blocked`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from numba import cuda, float32, uint32

from gemm_kernels import LADDER, register_blocked
from gemm_kernels.parts.blocks import clear, element, outer_product
from utils.intrinsics.wide_memory import load4
from utils.ladder.shapes import GemmShape
from utils.ladder.step import Launch, Step, Variant
from utils.ladder.tasks import GEMM
from utils.machine.devices import slug
from utils.measuring import rows
from utils.measuring.experiment import Experiment
from utils.measuring.kernel_times import ProductTime, time_products
from utils.paths import DATA

SIZES = (2048, 4096)
VERIFIED = (GemmShape(36, 36, 44), GemmShape(132, 260, 160))
SIDE, DEPTH, EACH = 128, 8, 8  # of a block's tile of c, of a tile along k, of a thread's part of c
ACROSS = SIDE // EACH
THREADS = ACROSS**2
LOADS = SIDE * DEPTH // THREADS
PADDED_DEPTH, PADDED_SIDE = DEPTH + 1, SIDE + 4


@dataclass(frozen=True)
class WideCounters:
    """What the profiler counted in one launch of a kernel for n×n matrices.

    instructions: those that all warps executed. shared_wavefronts: of loads from shared memory and
    stores into it. wavefronts: of all accesses to shared memory and L1.
    """

    device: str
    kernel: str
    n: int
    instructions: int
    shared_wavefronts: int
    wavefronts: int


@cache
def build_padded():
    """Return the kernel (a, b, c) of `register_blocked` with rows of 9 words in a's tile.

    It computes c = a·b, with 128×128 of c per block and 8×8 per thread.
    """
    add_outer_product = outer_product(EACH, EACH)

    @cuda.jit
    def padded_rows(a, b, c):
        m, k = a.shape
        n = b.shape[1]
        sa = cuda.shared.array((SIDE, PADDED_DEPTH), float32, alignment=16)
        sb = cuda.shared.array((DEPTH, SIDE), float32, alignment=16)
        sums = cuda.local.array((EACH, EACH), float32)
        from_a = cuda.local.array(EACH, float32)
        from_b = cuda.local.array(EACH, float32)
        t = uint32(cuda.threadIdx.x)
        row, col = uint32(cuda.blockIdx.y * SIDE), uint32(cuda.blockIdx.x * SIDE)
        y, x = t // ACROSS * EACH, t % ACROSS * EACH

        clear(sums)
        for start in range(0, k, DEPTH):
            for load in range(LOADS):
                e = t + load * THREADS
                sa[e // DEPTH, e % DEPTH] = element(a, row + e // DEPTH, start + e % DEPTH)
            for load in range(LOADS):
                e = t + load * THREADS
                sb[e // SIDE, e % SIDE] = element(b, start + e // SIDE, col + e % SIDE)
            cuda.syncthreads()
            z = uint32(0)
            while z < DEPTH:
                for i in range(EACH):
                    from_a[i] = sa[y + i, z]
                for j in range(EACH):
                    from_b[j] = sb[z, x + j]
                add_outer_product(sums, from_a, from_b)
                z = uint32(z + 1)
            cuda.syncthreads()

        for i in range(EACH):
            for j in range(EACH):
                if row + y + i < m and col + x + j < n:
                    c[row + y + i, col + x + j] = sums[i, j]

    return padded_rows


@cache
def build_transposed():
    """Return the kernel (a, b, c) of `register_blocked` with a's tile transposed, read by `load4`.

    It computes c = a·b, with 128×128 of c per block and 8×8 per thread.
    """
    add_outer_product = outer_product(EACH, EACH)

    @cuda.jit
    def transposed_tile(a, b, c):
        m, k = a.shape
        n = b.shape[1]
        sa = cuda.shared.array((DEPTH, PADDED_SIDE), float32, alignment=16)
        sb = cuda.shared.array((DEPTH, SIDE), float32, alignment=16)
        sums = cuda.local.array((EACH, EACH), float32)
        from_a = cuda.local.array(EACH, float32)
        from_b = cuda.local.array(EACH, float32)
        t = uint32(cuda.threadIdx.x)
        row, col = uint32(cuda.blockIdx.y * SIDE), uint32(cuda.blockIdx.x * SIDE)
        y, x = t // ACROSS * EACH, t % ACROSS * EACH

        clear(sums)
        for start in range(0, k, DEPTH):
            for load in range(LOADS):
                e = t + load * THREADS
                sa[e % DEPTH, e // DEPTH] = element(a, row + e // DEPTH, start + e % DEPTH)
            for load in range(LOADS):
                e = t + load * THREADS
                sb[e // SIDE, e % SIDE] = element(b, start + e // SIDE, col + e % SIDE)
            cuda.syncthreads()
            z = uint32(0)
            while z < DEPTH:
                for i in range(0, EACH, 4):
                    from_a[i], from_a[i + 1], from_a[i + 2], from_a[i + 3] = load4(sa, (z, y + i))
                for j in range(0, EACH, 4):
                    from_b[j], from_b[j + 1], from_b[j + 2], from_b[j + 3] = load4(sb, (z, x + j))
                add_outer_product(sums, from_a, from_b)
                z = uint32(z + 1)
            cuda.syncthreads()

        for i in range(EACH):
            for j in range(EACH):
                if row + y + i < m and col + x + j < n:
                    c[row + y + i, col + x + j] = sums[i, j]

    return transposed_tile


@cache
def variants() -> tuple[Variant, ...]:
    """Return the five kernels of this experiment in the order in which they are timed.

    They are `register_blocked`, `padded_rows`, `transposed_tile`, and `vectorized` with tiles of 8
    and of 16 steps of k.
    """
    constants = {"BM": SIDE, "BN": SIDE, "TM": EACH, "TN": EACH}
    return (
        LADDER.step("register_blocked").variant(**constants),
        _step("padded_rows", build_padded),
        _step("transposed_tile", build_transposed),
        *(LADDER.step("vectorized").variant(**constants, BK=depth) for depth in (8, 16)),
    )


def recorded_times() -> tuple[ProductTime, ...]:
    """Return the times of all devices that have a record, device by device; () if none has one."""
    return EXPERIMENT.recorded()


def recorded_counters(device: str) -> dict[str, WideCounters]:
    """Return a dict from a kernel's name, such as "padded_rows", to its row of counts on a device.

    A kernel of the ladder has its constants in the name. The profiler counted in one launch.

    Raises CourseError if the device has no record.
    """
    file = DATA / "measured" / slug(device) / "wide_counters.csv"
    return {row.kernel: row for row in rows.read(file, WideCounters)}


def measured(device: str, sizes: Sequence[int] = SIZES) -> Iterator[ProductTime]:
    """Yield a ProductTime per kernel for each size, the kernels in the order of `variants`.

    All kernels of a size come one after the other, and their repetitions are interleaved. `device`
    is the name for the rows, and `sizes` are the values of n. Raises CourseError if a kernel's
    product is wrong.
    """
    return time_products(LADDER, variants(), device, sizes, VERIFIED)


def _step(name: str, build: Callable) -> Variant:
    """Return the variant called `name` of a kernel without constants, which `build()` returns.

    Its launch has one block per 128×128 tile of c.
    """
    step = Step(
        module=__name__,
        name=name,
        idea="register_blocked with one change of vectorized",
        previous="register_blocked",
        task=GEMM,
        build=build,
        launch=_launch,
    )
    return step.variant()


def _launch(shape: GemmShape) -> Launch:
    """Return a launch with one block of 256 threads per 128×128 tile of c, x along n, y along m."""
    return register_blocked.launch(shape, SIDE, SIDE, EACH, EACH)


EXPERIMENT = Experiment(
    name="wide-alone",
    help="time register blocking with padded rows, with a transposed tile, and with wide loads",
    row=ProductTime,
    size="n",
    measured=measured,
)
COMMAND = EXPERIMENT.command()
