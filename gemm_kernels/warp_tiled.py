"""A thread's 8×8 of c are four quads half a tile apart; a warp is a patch of c, not a row.

The listing of Gray and others 2022 uses the map FOUR_BY_EIGHT and their text ZIG_ZAG. Here there
are two more maps to compare with, and rows of a's tile are padded by 4 elements.
"""

from functools import cache

from numba import cuda, float32, uint32

from gemm_kernels.parts.blocks import (
    check_wide,
    clear,
    fetch,
    outer_product,
    put_columns,
    put_rows,
    read_fragment,
    store_tile,
)
from gemm_kernels.parts.lane_maps import FOUR_BY_EIGHT, LANE_MAPS, ROW_MAJOR, Z_ORDER, ZIG_ZAG
from utils.division import cdiv
from utils.ladder.step import Budget, Launch, Step
from utils.ladder.tasks import GEMM

BM, BN, TM, TN = 128, 128, 8, 8


@cache
def build(LANES, BK):
    """Return the kernel (a, b, c) that computes c = a·b, with 128×128 of c per block.

    A thread computes 8×8 of c, and LANE_MAPS[LANES] says which. A tile has BK steps of k.
    """
    place = LANE_MAPS[LANES]
    THREADS = BM // TM * (BN // TN)
    LOADS_A, LOADS_B = BM * BK // 4 // THREADS, BK * BN // 4 // THREADS
    QUADS_A, QUADS_B = BK // 4, BN // 4
    PADDED = BM + 4
    LAST = BK - 1
    # The other quads of a thread are half a tile below and half a tile to the right.
    APART_Y, APART_X = BM * 4 // TM, BN * 4 // TN
    add_outer_product = outer_product(TM, TN)

    @cuda.jit(device=True, forceinline=True)
    def multiply_tile(sa, sb, side, y, x, a0, b0, a1, b1, sums):
        z = uint32(1)
        while z < LAST:
            # Neighbours read neighbouring quads: 8 of them cover the 32 banks, each bank once.
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

    # A warp is a patch of c and a thread's quads are half a tile apart, so that lanes read
    # neighbouring quads; flaw: a tile passes through registers on its way to shared memory.
    @cuda.jit
    def warp_tiled(a, b, c):
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
        down, across = place(t)
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

    return warp_tiled


def launch(shape, LANES, BK):
    """Return a launch with one thread block per 128×128 tile of c.

    Axis x of the grid counts tiles along n, and axis y along m. LANES and BK have no influence on
    it. Raises CourseError unless n and k are multiples of 4.
    """
    check_wide("warp_tiled", shape)
    return Launch(grid=(cdiv(shape.n, BN), cdiv(shape.m, BM)), block=(BM // TM * (BN // TN),))


STEP = Step(
    module=__name__,
    name="warp_tiled",
    idea="8×8 per thread as four quads, lanes as 4×8 patches: no two threads meet in a bank",
    previous="prefetch",
    task=GEMM,
    build=build,
    launch=launch,
    choices={"LANES": (ROW_MAJOR, FOUR_BY_EIGHT, Z_ORDER, ZIG_ZAG), "BK": (8, 16)},
    budget=Budget(registers=128, global_bits=128, shared_bits=128, ffma_share=0.7),
)
