"""`python -m gemm_kernels ilp-alone`: time a product with more sums per thread, and its rivals.

`four_chains` reads what `tiled` reads, and differs from `one_chain` in the number of sums that are
used. `granularity` and `ilp` have four sums per thread and also read less. `plain_rows` is `ilp`
in its plain form, and `unrolled_rows` the plain form with four steps of k at a time.
`sixteen_rows` is `ilp` of grain 16 with two short loops over k, which the compiler writes out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

from numba import cuda, float32, uint32

from gemm_kernels import LADDER
from utils.division import cdiv
from utils.ladder.shapes import GemmShape
from utils.ladder.step import Launch, Step, Variant
from utils.ladder.tasks import GEMM
from utils.measuring.experiment import Experiment
from utils.measuring.kernel_times import ProductTime, time_products

SIZES = (2048, 4096)
VERIFIED = (GemmShape(35, 36, 44), GemmShape(128, 96, 160))
TILE = 32
GRAIN = 16  # of sixteen_rows


@cache
def build_chains(USED):
    """Return the kernel of the exercise `four_chains`, whose threads use USED of their four sums.

    It computes c = a·b, with one element of c per thread. With 1 it is the starter, and with 4 the
    solution.
    """

    @cuda.jit
    def four_chains(a, b, c):
        (m, k), n = a.shape, b.shape[1]
        tile_a = cuda.shared.array((TILE, TILE), float32)
        tile_b = cuda.shared.array((TILE, TILE), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
        totals = cuda.local.array(4, float32)
        for j in range(4):
            totals[j] = float32(0)
        for start in range(0, k, TILE):
            tile_a[ty, tx] = a[row, start + tx] if row < m and start + tx < k else float32(0)
            tile_b[ty, tx] = b[start + ty, col] if start + ty < k and col < n else float32(0)
            cuda.syncthreads()
            for i in range(TILE):
                totals[i % USED] += tile_a[ty, i] * tile_b[i, tx]
            cuda.syncthreads()
        if row < m and col < n:
            c[row, col] = totals[0] + totals[1] + totals[2] + totals[3]

    return four_chains


@cache
def build_rows():
    """Return the kernel (a, b, c) of the exercise `independent_sums`, for c = a·b.

    It is the solution: a thread computes four rows of a column, and its loop over k is not
    unrolled.
    """

    @cuda.jit
    def independent_sums(a, b, c):
        (m, k), n = a.shape, b.shape[1]
        tile_a = cuda.shared.array((TILE, TILE), float32)
        tile_b = cuda.shared.array((TILE, TILE), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
        totals = cuda.local.array(4, float32)
        for g in range(4):
            totals[g] = float32(0)
        for start in range(0, k, TILE):
            for g in range(4):
                y, r = ty + 8 * g, row + 8 * g
                tile_a[y, tx] = a[r, start + tx] if r < m and start + tx < k else float32(0)
                tile_b[y, tx] = b[start + y, col] if start + y < k and col < n else float32(0)
            cuda.syncthreads()
            for i in range(TILE):
                from_b = tile_b[i, tx]
                for g in range(4):
                    totals[g] += tile_a[ty + 8 * g, i] * from_b
            cuda.syncthreads()
        for g in range(4):
            if row + 8 * g < m and col < n:
                c[row + 8 * g, col] = totals[g]

    return independent_sums


@cache
def build_unrolled_rows():
    """Return a kernel (a, b, c) for c = a·b: four rows per thread, and k in two nested loops.

    The inner loop takes four steps of k. The tile of a is aligned to 16 bytes.
    """

    @cuda.jit
    def unrolled_rows(a, b, c):
        (m, k), n = a.shape, b.shape[1]
        tile_a = cuda.shared.array((TILE, TILE), float32, alignment=16)
        tile_b = cuda.shared.array((TILE, TILE), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
        totals = cuda.local.array(4, float32)
        for g in range(4):
            totals[g] = float32(0)
        for start in range(0, k, TILE):
            for g in range(4):
                y, r = ty + 8 * g, row + 8 * g
                tile_a[y, tx] = a[r, start + tx] if r < m and start + tx < k else float32(0)
                tile_b[y, tx] = b[start + y, col] if start + y < k and col < n else float32(0)
            cuda.syncthreads()
            for first in range(0, TILE, 4):
                for u in range(4):
                    from_b = tile_b[first + u, tx]
                    for g in range(4):
                        totals[g] += tile_a[ty + 8 * g, first + u] * from_b
            cuda.syncthreads()
        for g in range(4):
            if row + 8 * g < m and col < n:
                c[row + 8 * g, col] = totals[g]

    return unrolled_rows


@cache
def build_sixteen():
    """Return the kernel (a, b, c) of `ilp` with GRAIN = 16, but two loops over two steps of k.

    `ilp` has one loop over four steps there. The kernel computes c = a·b.
    """
    ROWS = TILE // GRAIN

    @cuda.jit
    def sixteen_rows(a, b, c):
        m, k = a.shape
        n = b.shape[1]
        sa = cuda.shared.array((TILE, TILE), float32, alignment=16)
        sb = cuda.shared.array((TILE, TILE), float32)
        totals = cuda.local.array(GRAIN, float32)
        tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        row = uint32(cuda.blockIdx.y * TILE + ty)
        col = uint32(cuda.blockIdx.x * TILE + tx)

        for g in range(GRAIN):
            totals[g] = float32(0)
        for start in range(0, k, TILE):
            for g in range(GRAIN):
                y = ty + g * ROWS
                a_inside = row + g * ROWS < m and start + tx < k
                b_inside = start + y < k and col < n
                sa[y, tx] = a[row + g * ROWS, start + tx] if a_inside else float32(0)
                sb[y, tx] = b[start + y, col] if b_inside else float32(0)
            cuda.syncthreads()
            i = uint32(0)
            while i < TILE:
                # Each of these loops has 32 multiply-adds, which the compiler still writes out.
                for u in range(2):
                    from_b = sb[i + u, tx]
                    for g in range(GRAIN):
                        totals[g] += sa[ty + g * ROWS, i + u] * from_b
                for u in range(2, 4):
                    from_b = sb[i + u, tx]
                    for g in range(GRAIN):
                        totals[g] += sa[ty + g * ROWS, i + u] * from_b
                i = uint32(i + 4)
            cuda.syncthreads()

        for g in range(GRAIN):
            if row + g * ROWS < m and col < n:
                c[row + g * ROWS, col] = totals[g]

    return sixteen_rows


@cache
def variants() -> tuple[Variant, ...]:
    """Return the ten kernels in the order in which they are timed, `tiled` first."""
    ilp = LADDER.step("ilp")
    return (
        LADDER.step("tiled").variant(TILE=TILE),
        _step("one_chain", partial(build_chains, 1), threads=TILE),
        _step("four_chains", partial(build_chains, 4), threads=TILE),
        LADDER.step("granularity").variant(GRAIN=4, TILE=TILE),
        ilp.variant(GRAIN=4),
        _step("plain_rows", build_rows, threads=TILE // 4),
        _step("unrolled_rows", build_unrolled_rows, threads=TILE // 4),
        ilp.variant(GRAIN=8),
        ilp.variant(GRAIN=16),
        _step("sixteen_rows", build_sixteen, threads=TILE // GRAIN),
    )


def recorded_times() -> tuple[ProductTime, ...]:
    """Return the times of all devices that have a record, device by device; () if none has one."""
    return EXPERIMENT.recorded()


def measured(device: str, sizes: Sequence[int] = SIZES) -> Iterator[ProductTime]:
    """Yield the time of each kernel for n×n matrices of each size; repetitions are interleaved.

    `device` is the name for the rows, and `sizes` are the values of n. Raises CourseError if a
    kernel's product is wrong.
    """
    return time_products(LADDER, variants(), device, sizes, VERIFIED)


def _step(name: str, build: Callable, threads: int) -> Variant:
    """Return the variant called `name` of a kernel without constants, which `build()` returns.

    Its launch has one block of TILE×`threads` threads per TILE×TILE tile of c.
    """
    step = Step(
        module=__name__,
        name=name,
        idea="a kernel that only this experiment times",
        previous="tiled",
        task=GEMM,
        build=build,
        launch=partial(_launch, threads),
    )
    return step.variant()


def _launch(threads: int, shape: GemmShape) -> Launch:
    """Return a launch with one block of TILE×`threads` threads per TILE×TILE tile of c.

    Axis x of the grid counts tiles along n, and axis y along m.
    """
    return Launch(grid=(cdiv(shape.n, TILE), cdiv(shape.m, TILE)), block=(TILE, threads))


EXPERIMENT = Experiment(
    name="ilp-alone",
    help="time the tiled product with more sums per thread, and ilp",
    row=ProductTime,
    size="n",
    measured=measured,
)
COMMAND = EXPERIMENT.command()
