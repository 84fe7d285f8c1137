"""`python -m gemm_kernels copies-alone`: time `async_copy` with and without its asynchronous copy.

`without_copy` has the tiles of `async_copy`, with 16×8 elements of c per thread, and its tile of b
passes through registers, as in `warp_tiled`, the step before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from numba import cuda, float32, uint32

from gemm_kernels import LADDER
from gemm_kernels.async_copy import TM, TN
from gemm_kernels.parts.blocks import (
    clear,
    fetch,
    outer_product,
    put_columns,
    put_rows,
    read_fragment,
    store_tile,
)
from utils.ladder.shapes import GemmShape
from utils.ladder.step import Variant
from utils.measuring.experiment import Experiment
from utils.measuring.kernel_times import ProductTime, time_products

SIZES = (1024, 2048, 4096, 8192)
VERIFIED = (GemmShape(36, 36, 44), GemmShape(132, 260, 160))


@cache
def build(BM, BN, BK):
    """Return the kernel (a, b, c) of async_copy whose tile of b passes through registers.

    It computes c = a·b, with BM×BN of c per block and 16×8 per thread. A tile has BK steps of k.
    """
    WARPS_ACROSS = BN // TN // 8
    THREADS = BM // TM * (BN // TN)
    LOADS_A, LOADS_B = BM * BK // 4 // THREADS, BK * BN // 4 // THREADS
    QUADS_A, QUADS_B = BK // 4, BN // 4
    PADDED = BM + 4
    LAST = BK - 1
    APART_Y, APART_X = BM * 4 // TM, BN * 4 // TN
    add_outer_product = outer_product(TM, TN)

    @cuda.jit(device=True, forceinline=True)
    def multiply_tile(sa, sb, side, y, x, a0, b0, a1, b1, sums):
        z = uint32(1)
        while z < LAST:
            read_fragment(sa, (side, z), y, APART_Y, a1)
            read_fragment(sb, (side, z), x, APART_X, b1)
            add_outer_product(sums, a0, b0)
            read_fragment(sa, (side, z + 1), y, APART_Y, a0)
            read_fragment(sb, (side, z + 1), x, APART_X, b0)
            add_outer_product(sums, a1, b1)
            z = uint32(z + 2)
        read_fragment(sa, (side, LAST), y, APART_Y, a1)
        read_fragment(sb, (side, LAST), x, APART_X, b1)
        add_outer_product(sums, a0, b0)

    @cuda.jit
    def without_copy(a, b, c):
        k = a.shape[1]
        sa = cuda.shared.array((2, BK, PADDED), float32, alignment=16)
        sb = cuda.shared.array((2, BK, BN), float32, alignment=16)
        sums = cuda.local.array((TM, TN), float32)
        next_a = cuda.local.array((LOADS_A, 4), float32)
        next_b = cuda.local.array((LOADS_B, 4), float32)
        a0 = cuda.local.array(TM, float32)
        b0 = cuda.local.array(TN, float32)
        a1 = cuda.local.array(TM, float32)
        b1 = cuda.local.array(TN, float32)
        t = uint32(cuda.threadIdx.x)
        me = t, THREADS
        row, col = uint32(cuda.blockIdx.y * BM), uint32(cuda.blockIdx.x * BN)
        warp, lane = t // 32, t % 32
        down = warp // WARPS_ACROSS * 4 + lane // 8
        across = warp % WARPS_ACROSS * 8 + lane % 8
        y, x = down * 4, across * 4

        clear(sums)
        start, side = uint32(0), uint32(0)
        fetch(a, (row, start), QUADS_A, me, next_a)
        fetch(b, (start, col), QUADS_B, me, next_b)
        put_columns(sa, side, QUADS_A, me, next_a)
        put_rows(sb, side, QUADS_B, me, next_b)
        cuda.syncthreads()
        read_fragment(sa, (side, 0), y, APART_Y, a0)
        read_fragment(sb, (side, 0), x, APART_X, b0)

        while start < uint32(k):
            start = uint32(start + BK)
            fetch(a, (row, start), QUADS_A, me, next_a)
            fetch(b, (start, col), QUADS_B, me, next_b)
            multiply_tile(sa, sb, side, y, x, a0, b0, a1, b1, sums)
            side ^= uint32(1)
            put_columns(sa, side, QUADS_A, me, next_a)
            put_rows(sb, side, QUADS_B, me, next_b)
            cuda.syncthreads()
            read_fragment(sa, (side, 0), y, APART_Y, a0)
            read_fragment(sb, (side, 0), x, APART_X, b0)
            add_outer_product(sums, a1, b1)

        store_tile(c, (row + y, col + x), (APART_Y, APART_X), sums)

    return without_copy


@cache
def variants() -> tuple[Variant, ...]:
    """Return `warp_tiled`, `without_copy` and `async_copy`, in the order of timing."""
    copied = LADDER.step("async_copy")
    without = replace(
        copied,
        module=__name__,
        name="without_copy",
        idea="async_copy with a tile of b that passes through registers",
        build=build,
    )
    return tuple(step.variant() for step in (LADDER.step("warp_tiled"), without, copied))


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


EXPERIMENT = Experiment(
    name="copies-alone",
    help="time asynchronous copies, and the same kernel without them",
    row=ProductTime,
    size="n",
    measured=measured,
)
COMMAND = EXPERIMENT.command()
