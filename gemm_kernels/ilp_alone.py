"""`python -m gemm_kernels ilp-alone`: time a product with more sums per thread, and its rivals.

`four_chains` reads what `tiled` reads, and differs from `one_chain` in the number of sums that are
used. `granularity` and `ilp` have four sums per thread and also read less. `plain_rows` is `ilp`
in its plain form, and `unrolled_rows` the plain form with four steps of k at a time.
`sixteen_rows` is `ilp` of grain 16 with two short loops over k, which the compiler writes out.

`unrolled_rows` and `ilp` differ in their instructions and in the warps that an SM holds. Other
kernels separate the two on an H100 or H200. `written_out_rows` and `rows_in_32_bits` change the
instructions. `rows_40_warps` and `ilp_32_warps` change the number of warps. The chains with a
number of warps in their names are `one_chain` and `four_chains` with fewer warps on an SM.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

from numba import cuda, float32, int32, uint32

from gemm_kernels import LADDER, ilp
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
FLOAT32_BYTES, KIB = 4, 1024
# The shared memory per block with which an SM of 228 KiB has room for four blocks.
FOR_FOUR_BLOCKS = 46 * KIB
# The most registers per thread with which an SM of 65,536 holds five blocks of 256 threads.
FOR_FIVE_BLOCKS = 48


@cache
def build_chains(USED, TILE=TILE):
    """Return the kernel (a, b, c) of the exercise `four_chains`, with USED of its four sums in use.

    A thread computes one element of c = a·b. With TILE = 32, the kernel is the starter of the
    exercise if USED is 1, and its solution if USED is 4.
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
    """Return the kernel (a, b, c) that is the solution of the exercise `independent_sums`, c = a·b.

    A thread computes four elements of a column, 8 rows apart, and its loop over k is not unrolled.
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
def build_unrolled_rows(index=int32, max_registers=None):
    """Return a kernel (a, b, c) for c = a·b: four rows per thread, and k in two nested loops.

    The inner loop takes four steps of k, and the tile of a is aligned to 16 bytes. `index` is the
    type of threadIdx.x and threadIdx.y in the kernel: int32, which is CUDA's, or uint32.
    `max_registers` is the most registers that the compiler may use per thread; None leaves the
    number to the compiler.
    """

    # numba-cuda-mlir takes no None.
    options = {} if max_registers is None else {"max_registers": max_registers}

    @cuda.jit(**options)
    def unrolled_rows(a, b, c):
        (m, k), n = a.shape, b.shape[1]
        tile_a = cuda.shared.array((TILE, TILE), float32, alignment=16)
        tile_b = cuda.shared.array((TILE, TILE), float32)
        tx, ty = index(cuda.threadIdx.x), index(cuda.threadIdx.y)
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
def build_written_out_rows():
    """Return the kernel (a, b, c) of `unrolled_rows` with `while` instead of the outer loop over k.

    With it, the compiler writes out all TILE steps of k. The kernel computes c = a·b.
    """

    @cuda.jit
    def written_out_rows(a, b, c):
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
            first = 0
            while first < TILE:
                for u in range(4):
                    from_b = tile_b[first + u, tx]
                    for g in range(4):
                        totals[g] += tile_a[ty + 8 * g, first + u] * from_b
                first += 4
            cuda.syncthreads()
        for g in range(4):
            if row + 8 * g < m and col < n:
                c[row + 8 * g, col] = totals[g]

    return written_out_rows


@cache
def build_sixteen():
    """Return the kernel (a, b, c) of `ilp` with GRAIN = 16 and two loops over two steps of k each.

    `ilp` has one loop over four steps instead. The kernel computes c = a·b.
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
    """Return the kernels in the order in which they are timed.

    They are `tiled`, `one_chain`, `four_chains`, `granularity` of grain 4, `ilp` of grain 4,
    `plain_rows`, `unrolled_rows`, `ilp` of grains 8 and 16, and `sixteen_rows`. The kernels of
    `_instructions_and_warps` and of `_chains_with_fewer_warps` follow.
    """
    rows = LADDER.step("ilp")
    return (
        LADDER.step("tiled").variant(TILE=TILE),
        _step("one_chain", partial(build_chains, 1), threads=TILE),
        _step("four_chains", partial(build_chains, 4), threads=TILE),
        LADDER.step("granularity").variant(GRAIN=4, TILE=TILE),
        rows.variant(GRAIN=4),
        _step("plain_rows", build_rows, threads=TILE // 4),
        _step("unrolled_rows", build_unrolled_rows, threads=TILE // 4),
        rows.variant(GRAIN=8),
        rows.variant(GRAIN=16),
        _step("sixteen_rows", build_sixteen, threads=TILE // GRAIN),
        *_instructions_and_warps(),
        *_chains_with_fewer_warps(),
    )


def _instructions_and_warps() -> tuple[Variant, ...]:
    """Return the four kernels that separate instructions from warps, in the order of timing.

    They are `rows_40_warps`, `rows_in_32_bits` and `written_out_rows`, which are `unrolled_rows`
    with more warps on an SM or with other instructions, and `ilp_32_warps`, which is `ilp` with
    fewer warps.
    """
    few_registers = partial(build_unrolled_rows, max_registers=FOR_FIVE_BLOCKS)
    return (
        _step("rows_40_warps", few_registers, threads=TILE // 4),
        _step("rows_in_32_bits", partial(build_unrolled_rows, uint32), threads=TILE // 4),
        _step("written_out_rows", build_written_out_rows, threads=TILE // 4),
        _four_blocks("ilp_32_warps", partial(ilp.build, 4), threads=TILE // 4),
    )


def _chains_with_fewer_warps() -> tuple[Variant, ...]:
    """Return kernels with one and with four chains, of which an SM holds 32 or 8 warps.

    There are four of them, those with 32 warps first. An SM holds four blocks: 8 warps each with
    tiles of 16×16, or 2 warps each with tiles of 8×8.
    """
    return tuple(
        _four_blocks(f"{name}_{warps}_warps", partial(build_chains, used, tile), tile, tile)
        for tile, warps in ((16, 32), (8, 8))
        for name, used in (("one_chain", 1), ("four_chains", 4))
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


def _four_blocks(name: str, build: Callable, threads: int, tile: int = TILE) -> Variant:
    """Return the variant that `_step` returns, with shared memory for only four blocks on an SM.

    The launch asks for so much dynamic shared memory per block that no fifth block fits. `name`,
    `build`, `threads` and `tile` are the arguments of `_step`.
    """
    two_tiles = 2 * tile**2 * FLOAT32_BYTES
    return _step(name, build, threads, tile, FOR_FOUR_BLOCKS - two_tiles)


def _step(
    name: str, build: Callable, threads: int, tile: int = TILE, shared_bytes: int = 0
) -> Variant:
    """Return the variant called `name` of a kernel without constants, which `build()` returns.

    Its launch has one block of tile×`threads` threads per tile×tile tile of c, and `shared_bytes`
    bytes of dynamic shared memory per block.
    """
    step = Step(
        module=__name__,
        name=name,
        idea="a kernel that only this experiment times",
        previous="tiled",
        task=GEMM,
        build=build,
        launch=lambda shape: Launch(
            (cdiv(shape.n, tile), cdiv(shape.m, tile)), (tile, threads), shared_bytes
        ),
    )
    return step.variant()


EXPERIMENT = Experiment(
    name="ilp-alone",
    help="time the tiled product with more sums per thread, and ilp",
    row=ProductTime,
    size="n",
    measured=measured,
)
COMMAND = EXPERIMENT.command()
