"""A thread's 8×8 of c are four quads half a tile apart; a warp is a patch of c, not a row."""

from functools import cache

from numba import cuda, float32, uint32

from gemm_kernels.parts.blocks import (
    check_wide,
    fetch,
    outer_product,
    put_columns,
    put_rows,
    read,
    store_quad,
)
from gemm_kernels.parts.lane_maps import FOUR_BY_EIGHT, LANE_MAPS, ROW_MAJOR, Z_ORDER
from utils.ladder.step import Budget, Launch, Step
from utils.ladder.tasks import GEMM

TILE, HALF, THREADS = 128, 64, 256
# Four more columns: threads that write two quads of one row of a's tile do not meet.
PADDED = TILE + 4


@cache
def build(LANES, BK):
    """The kernel with one of the three lane maps, and BK steps of k a tile of 128×128."""
    place = LANE_MAPS[LANES]
    LOADS = TILE * BK // 4 // THREADS
    QUADS_A, QUADS_B = BK // 4, TILE // 4
    LAST = BK - 1
    add_outer_product = outer_product(8, 8)

    @cuda.jit
    def warp_tiled(a, b, c):
        k = uint32(a.shape[1])
        sa = cuda.shared.array((2, BK, PADDED), float32, alignment=16)
        sb = cuda.shared.array((2, BK, TILE), float32, alignment=16)
        sums = cuda.local.array((8, 8), float32)
        next_a = cuda.local.array((LOADS, 4), float32)
        next_b = cuda.local.array((LOADS, 4), float32)
        a0 = cuda.local.array(8, float32)
        b0 = cuda.local.array(8, float32)
        a1 = cuda.local.array(8, float32)
        b1 = cuda.local.array(8, float32)
        t = uint32(cuda.threadIdx.x)
        me = t, THREADS
        row, col = uint32(cuda.blockIdx.y * TILE), uint32(cuda.blockIdx.x * TILE)
        # The other quads of this thread lie HALF a tile below and to the right.
        down, across = place(t)
        y, x = down * 4, across * 4

        for i in range(8):
            for j in range(8):
                sums[i, j] = float32(0)
        start, side = uint32(0), uint32(0)
        fetch(a, (row, start), QUADS_A, me, next_a)
        fetch(b, (start, col), QUADS_B, me, next_b)
        put_columns(sa, side, QUADS_A, me, next_a)
        put_rows(sb, side, QUADS_B, me, next_b)
        cuda.syncthreads()
        read(sa, (side, 0), y, HALF, a0)
        read(sb, (side, 0), x, HALF, b0)

        while start < k:
            start = uint32(start + BK)
            fetch(a, (row, start), QUADS_A, me, next_a)
            fetch(b, (start, col), QUADS_B, me, next_b)
            z = uint32(1)
            while z < LAST:
                # Neighbours read neighbouring quads: 8 of them fill the 32 banks, none twice.
                read(sa, (side, z), y, HALF, a1)
                read(sb, (side, z), x, HALF, b1)
                add_outer_product(sums, a0, b0)
                read(sa, (side, z + 1), y, HALF, a0)
                read(sb, (side, z + 1), x, HALF, b0)
                add_outer_product(sums, a1, b1)
                z = uint32(z + 2)
            read(sa, (side, LAST), y, HALF, a1)
            read(sb, (side, LAST), x, HALF, b1)
            add_outer_product(sums, a0, b0)
            side ^= uint32(1)
            put_columns(sa, side, QUADS_A, me, next_a)
            put_rows(sb, side, QUADS_B, me, next_b)
            cuda.syncthreads()
            read(sa, (side, 0), y, HALF, a0)
            read(sb, (side, 0), x, HALF, b0)
            add_outer_product(sums, a1, b1)

        # Flaw: every thread keeps the addresses of its part of a and of its part of b, and moves
        # both along for every tile.
        for i in range(8):
            for j in range(0, 8, 4):
                four = sums[i, j], sums[i, j + 1], sums[i, j + 2], sums[i, j + 3]
                store_quad(c, row + y + i // 4 * HALF + i % 4, col + x + j // 4 * HALF, four)

    return warp_tiled


def launch(shape, LANES, BK):
    """Enough blocks of 256 threads for c, m×n; CourseError where n or k is no multiple of 4."""
    check_wide("warp_tiled", shape)
    return Launch(grid=(-(-shape.n // TILE), -(-shape.m // TILE)), block=(THREADS,))


STEP = Step(
    module=__name__,
    name="warp_tiled",
    idea="8×8 per thread as four quads, lanes as 4×8 patches: no two threads meet in a bank",
    previous="prefetch",
    task=GEMM,
    build=build,
    launch=launch,
    choices={"LANES": (ROW_MAJOR, FOUR_BY_EIGHT, Z_ORDER), "BK": (8, 16)},
    budget=Budget(registers=128, global_bits=128, shared_bits=128, ffma_share=0.7),
)
