"""`python -m gemm_kernels rows-apart`: time register blocking with a thread's rows spread out.

A thread of `register_blocked` computes TM consecutive rows of its block's tile of c. In
`spread_rows` the rows of a thread are BM/TM apart, so rows of threads that are neighbours read
neighbouring rows of a's tile, whose words are in different banks. Nothing else differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from numba import cuda, float32, uint32

from gemm_kernels import LADDER, register_blocked
from gemm_kernels.parts.blocks import clear, element, outer_product
from gemm_kernels.wide_alone import WideCounters
from utils.ladder.shapes import GemmShape
from utils.ladder.step import Step, Variant
from utils.ladder.tasks import GEMM
from utils.machine.devices import slug
from utils.measuring import rows
from utils.measuring.experiment import Experiment
from utils.measuring.kernel_times import ProductTime, time_products
from utils.paths import DATA

SIZES = (2048, 4096)
VERIFIED = (GemmShape(36, 36, 44), GemmShape(132, 260, 160))
THREAD_TILES = ((4, 4), (4, 8), (8, 4), (8, 8))
# Block tile and thread tile of each pair of kernels.
TILES = (*(((64, 64), tile) for tile in THREAD_TILES), ((64, 128), (8, 8)), ((128, 128), (8, 8)))
BK = register_blocked.BK


@cache
def build(BM, BN, TM, TN):
    """Return the kernel (a, b, c) of `register_blocked`, but with the rows of a thread BM/TM apart.

    It computes c = a·b, with BM×BN of c per block and TM×TN per thread.
    """
    THREADS = BM // TM * (BN // TN)
    ACROSS, APART = BN // TN, BM // TM
    LOADS_A, LOADS_B = BM * BK // THREADS, BK * BN // THREADS
    add_outer_product = outer_product(TM, TN)

    @cuda.jit
    def spread_rows(a, b, c):
        m, k = a.shape
        n = b.shape[1]
        sa = cuda.shared.array((BM, BK), float32, alignment=16)
        sb = cuda.shared.array((BK, BN), float32, alignment=16)
        sums = cuda.local.array((TM, TN), float32)
        from_a = cuda.local.array(TM, float32)
        from_b = cuda.local.array(TN, float32)
        t = uint32(cuda.threadIdx.x)
        row, col = uint32(cuda.blockIdx.y * BM), uint32(cuda.blockIdx.x * BN)
        y, x = t // ACROSS, t % ACROSS * TN

        clear(sums)
        for start in range(0, k, BK):
            for load in range(LOADS_A):
                e = t + load * THREADS
                sa[e // BK, e % BK] = element(a, row + e // BK, start + e % BK)
            for load in range(LOADS_B):
                e = t + load * THREADS
                sb[e // BN, e % BN] = element(b, start + e // BN, col + e % BN)
            cuda.syncthreads()
            z = uint32(0)
            while z < BK:
                for i in range(TM):
                    from_a[i] = sa[y + APART * i, z]
                for j in range(TN):
                    from_b[j] = sb[z, x + j]
                add_outer_product(sums, from_a, from_b)
                z = uint32(z + 1)
            cuda.syncthreads()

        for i in range(TM):
            for j in range(TN):
                if row + y + APART * i < m and col + x + j < n:
                    c[row + y + APART * i, col + x + j] = sums[i, j]

    return spread_rows


STEP = Step(
    module=__name__,
    name="spread_rows",
    idea="the rows of a thread are BM/TM apart, so reads of a's tile have no bank conflict",
    previous="register_blocked",
    task=GEMM,
    build=build,
    launch=register_blocked.launch,
    choices={"BM": (64, 128), "BN": (64, 128), "TM": (8, 4), "TN": (8, 4)},
)


@cache
def variants() -> tuple[Variant, ...]:
    """Return `register_blocked` and `spread_rows` for each pair of sizes in `TILES`.

    With each pair, `register_blocked` comes first.
    """
    steps = LADDER.step("register_blocked"), STEP
    return tuple(
        step.variant(BM=BM, BN=BN, TM=TM, TN=TN) for (BM, BN), (TM, TN) in TILES for step in steps
    )


def recorded_times() -> tuple[ProductTime, ...]:
    """Return the times of all devices that have a record, device by device; () if none has one."""
    return EXPERIMENT.recorded()


def recorded_counters(device: str) -> dict[str, WideCounters]:
    """Return a dict from a kernel's name with its constants to its row of counts on a device.

    A name has the form of `str(variant)`. Raises CourseError if the device has no record.
    """
    file = DATA / "measured" / slug(device) / "rows_counters.csv"
    return {row.kernel: row for row in rows.read(file, WideCounters)}


def measured(device: str, sizes: Sequence[int] = SIZES) -> Iterator[ProductTime]:
    """Yield a ProductTime per kernel for each size, the kernels in the order of `variants`.

    All kernels of a size come one after the other, and their repetitions are interleaved. `device`
    is the name for the rows, and `sizes` are the values of n. Raises CourseError if a kernel's
    product is wrong.
    """
    return time_products(LADDER, variants(), device, sizes, VERIFIED)


EXPERIMENT = Experiment(
    name="rows-apart",
    help="time register blocking with the rows of a thread side by side and spread out",
    row=ProductTime,
    size="n",
    measured=measured,
)
COMMAND = EXPERIMENT.command()
