"""`python -m gemm_kernels tiles-alone`: time a product with four tiles of b, and its rivals.

`granularity` with four tiles of b saves loads of a, barriers and reads of the tile of a at once.
`reads_again` saves only the loads and barriers: it takes the four tiles one after the other, and
reads the tile of a again for each of them. In `loop_per_tile` the source code reads it again, too,
but the compiler keeps the words in registers. `more_barriers` is `granularity` with four times its
barriers, which are as many per multiply-add as with one tile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

from numba import cuda, float32, uint32

from gemm_kernels import LADDER, granularity
from utils.ladder.shapes import GemmShape
from utils.ladder.step import Step, Variant
from utils.ladder.tasks import GEMM
from utils.measuring.experiment import Experiment
from utils.measuring.kernel_times import ProductTime, time_products

SIZES = (2048, 4096)
VERIFIED = (GemmShape(35, 36, 44), GemmShape(128, 160, 96))
TILE, GRAIN, UNROLL = 32, 4, granularity.UNROLL


@cache
def build_loop_per_tile(FRESH=False):
    """Return a kernel (a, b, c) for c = a·b: `granularity` with a loop over k for each tile of b.

    It loads the same tiles with the same barriers. With FRESH a `syncwarp` between the loops makes
    the compiler read the tile of a again in each of them; otherwise it keeps the words.
    """
    WIDTH = GRAIN * TILE

    @cuda.jit
    def loop_per_tile(a, b, c):
        m, k = a.shape
        n = b.shape[1]
        sa = cuda.shared.array((TILE, TILE), float32, alignment=16)
        sb = cuda.shared.array((TILE, WIDTH), float32)
        totals = cuda.local.array(GRAIN, float32)
        tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        row = uint32(cuda.blockIdx.y * TILE + ty)
        col = uint32(cuda.blockIdx.x * WIDTH + tx)

        for g in range(GRAIN):
            totals[g] = float32(0)
        for start in range(0, k, TILE):
            sa[ty, tx] = a[row, start + tx] if row < m and start + tx < k else float32(0)
            for g in range(GRAIN):
                inside = start + ty < k and col + g * TILE < n
                sb[ty, g * TILE + tx] = b[start + ty, col + g * TILE] if inside else float32(0)
            cuda.syncthreads()
            for g in range(GRAIN):
                i = uint32(0)
                while i < TILE:
                    for u in range(UNROLL):
                        totals[g] += sa[ty, i + u] * sb[i + u, g * TILE + tx]
                    i = uint32(i + UNROLL)
                if FRESH:
                    cuda.syncwarp()
            cuda.syncthreads()

        for g in range(GRAIN):
            if row < m and col + g * TILE < n:
                c[row, col + g * TILE] = totals[g]

    return loop_per_tile


@cache
def build_one_by_one():
    """Return a kernel (a, b, c) for c = a·b: `reads_again`, with each tile of b loaded at its use.

    A thread waits for loads from global memory four times per tile of a instead of once, and passes
    8 barriers instead of 2.
    """
    WIDTH = GRAIN * TILE

    @cuda.jit
    def one_by_one(a, b, c):
        m, k = a.shape
        n = b.shape[1]
        sa = cuda.shared.array((TILE, TILE), float32, alignment=16)
        sb = cuda.shared.array((TILE, WIDTH), float32)
        totals = cuda.local.array(GRAIN, float32)
        tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        row = uint32(cuda.blockIdx.y * TILE + ty)
        col = uint32(cuda.blockIdx.x * WIDTH + tx)

        for g in range(GRAIN):
            totals[g] = float32(0)
        for start in range(0, k, TILE):
            sa[ty, tx] = a[row, start + tx] if row < m and start + tx < k else float32(0)
            for g in range(GRAIN):
                inside = start + ty < k and col + g * TILE < n
                sb[ty, g * TILE + tx] = b[start + ty, col + g * TILE] if inside else float32(0)
                cuda.syncthreads()
                i = uint32(0)
                while i < TILE:
                    for u in range(UNROLL):
                        totals[g] += sa[ty, i + u] * sb[i + u, g * TILE + tx]
                    i = uint32(i + UNROLL)
                cuda.syncthreads()

        for g in range(GRAIN):
            if row < m and col + g * TILE < n:
                c[row, col + g * TILE] = totals[g]

    return one_by_one


@cache
def build_more_barriers():
    """Return the kernel (a, b, c) of `granularity` with 8 barriers per tile of a instead of 2.

    The 6 additional barriers are within the loop over the steps of k of a tile: two after every
    UNROLL steps except the last ones. The kernel computes c = a·b.
    """
    WIDTH = GRAIN * TILE

    @cuda.jit
    def more_barriers(a, b, c):
        m, k = a.shape
        n = b.shape[1]
        sa = cuda.shared.array((TILE, TILE), float32, alignment=16)
        sb = cuda.shared.array((TILE, WIDTH), float32)
        totals = cuda.local.array(GRAIN, float32)
        tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        row = uint32(cuda.blockIdx.y * TILE + ty)
        col = uint32(cuda.blockIdx.x * WIDTH + tx)

        for g in range(GRAIN):
            totals[g] = float32(0)
        for start in range(0, k, TILE):
            sa[ty, tx] = a[row, start + tx] if row < m and start + tx < k else float32(0)
            for g in range(GRAIN):
                inside = start + ty < k and col + g * TILE < n
                sb[ty, g * TILE + tx] = b[start + ty, col + g * TILE] if inside else float32(0)
            cuda.syncthreads()
            i = uint32(0)
            while i < TILE:
                for u in range(UNROLL):
                    from_a = sa[ty, i + u]
                    for g in range(GRAIN):
                        totals[g] += from_a * sb[i + u, g * TILE + tx]
                i = uint32(i + UNROLL)
                if i < TILE:
                    cuda.syncthreads()
                    cuda.syncthreads()
            cuda.syncthreads()

        for g in range(GRAIN):
            if row < m and col + g * TILE < n:
                c[row, col + g * TILE] = totals[g]

    return more_barriers


@cache
def variants() -> tuple[Variant, ...]:
    """Return the eight kernels of this experiment in the order in which they are timed.

    They are `tiled`, `granularity` with 1, 2 and 4 tiles of b, and then `one_by_one`,
    `reads_again`, `loop_per_tile` and `more_barriers`, which have 4 tiles of b.
    """
    ladder_step = LADDER.step("granularity")
    return (
        LADDER.step("tiled").variant(TILE=TILE),
        *(ladder_step.variant(GRAIN=grain, TILE=TILE) for grain in (1, 2, 4)),
        _step("one_by_one", build_one_by_one),
        _step("reads_again", partial(build_loop_per_tile, True)),
        _step("loop_per_tile", build_loop_per_tile),
        _step("more_barriers", build_more_barriers),
    )


def recorded_times() -> tuple[ProductTime, ...]:
    """Return the times of all devices that have a record, device by device; () if none has one."""
    return EXPERIMENT.recorded()


def measured(device: str, sizes: Sequence[int] = SIZES) -> Iterator[ProductTime]:
    """Yield a ProductTime per kernel for each size, the kernels in the order of `variants`.

    All kernels of a size come one after the other, and their repetitions are interleaved. `device`
    is the name for the rows, and `sizes` are the values of n. Raises CourseError if a kernel's
    product is wrong.
    """
    return time_products(LADDER, variants(), device, sizes, VERIFIED)


def _step(name: str, build: Callable) -> Variant:
    """Return the variant called `name` of a kernel without constants, which `build()` returns.

    Its launch is that of `granularity` with GRAIN tiles of b.
    """
    step = Step(
        module=__name__,
        name=name,
        idea="a kernel that only this experiment times",
        previous="granularity",
        task=GEMM,
        build=build,
        launch=partial(granularity.launch, GRAIN=GRAIN, TILE=TILE),
    )
    return step.variant()


EXPERIMENT = Experiment(
    name="tiles-alone",
    help="time the tiled product with four tiles of b, and with only a part of what they save",
    row=ProductTime,
    size="n",
    measured=measured,
)
COMMAND = EXPERIMENT.command()
