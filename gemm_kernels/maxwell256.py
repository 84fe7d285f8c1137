"""The classic design of 256 threads for 128×128 of c: half the reads from global memory."""

from functools import cache

from numba import cuda, float32, uint32

from gemm_kernels.parts.blocks import check_wide, fetch, outer_product, put_columns, put_rows, read
from utils.intrinsics.wide_memory import store4
from utils.ladder.step import Budget, Launch, Step
from utils.ladder.tasks import GEMM

TILE, HALF, THREADS = 128, 64, 256
LOADERS, WARPS = THREADS // 2, THREADS // 32
BK = 8
LOADS = TILE * BK // 4 // LOADERS
PADDED = TILE + 4


@cache
def build():
    """The kernel; its constants belong together."""
    add_outer_product = outer_product(8, 8)

    @cuda.jit
    def maxwell256(a, b, c):
        m, k, n = uint32(a.shape[0]), uint32(a.shape[1]), uint32(b.shape[1])
        sa = cuda.shared.array((2, BK, PADDED), float32, alignment=16)
        sb = cuda.shared.array((2, BK, TILE), float32, alignment=16)
        rows = cuda.shared.array((WARPS, 4, 64), float32, alignment=16)
        sums = cuda.local.array((8, 8), float32)
        staged = cuda.local.array((LOADS, 4), float32)
        a0 = cuda.local.array(8, float32)
        b0 = cuda.local.array(8, float32)
        a1 = cuda.local.array(8, float32)
        b1 = cuda.local.array(8, float32)
        t = uint32(cuda.threadIdx.x)
        row, col = uint32(cuda.blockIdx.y * TILE), uint32(cuda.blockIdx.x * TILE)
        # Half of the warps load a, the others b: each thread follows one matrix, with one set of
        # registers. All lanes of a warp are on the same side, so no warp takes both ways.
        loads_a = t < LOADERS
        me = t % LOADERS, LOADERS
        # The zig-zag of maxwell64, with one bit more on either side.
        across, down = t >> 4 & 8 | t >> 1 & 7, t >> 3 & 14 | t & 1
        y, x = down * 4, across * 4

        for i in range(8):
            for j in range(8):
                sums[i, j] = float32(0)
        start, side = uint32(0), uint32(0)
        if loads_a:
            fetch(a, (row, start), BK // 4, me, staged)
            put_columns(sa, side, BK // 4, me, staged)
        else:
            fetch(b, (start, col), TILE // 4, me, staged)
            put_rows(sb, side, TILE // 4, me, staged)
        cuda.syncthreads()
        read(sa, (side, 0), y, HALF, a0)
        read(sb, (side, 0), x, HALF, b0)

        while start < k:
            start = uint32(start + BK)
            if loads_a:
                fetch(a, (row, start), BK // 4, me, staged)
            else:
                fetch(b, (start, col), TILE // 4, me, staged)
            z = uint32(1)
            while z < BK - 1:
                read(sa, (side, z), y, HALF, a1)
                read(sb, (side, z), x, HALF, b1)
                add_outer_product(sums, a0, b0)
                read(sa, (side, z + 1), y, HALF, a0)
                read(sb, (side, z + 1), x, HALF, b0)
                add_outer_product(sums, a1, b1)
                z = uint32(z + 2)
            read(sa, (side, BK - 1), y, HALF, a1)
            read(sb, (side, BK - 1), x, HALF, b1)
            add_outer_product(sums, a0, b0)
            side ^= uint32(1)
            if loads_a:
                put_columns(sa, side, BK // 4, me, staged)
            else:
                put_rows(sb, side, TILE // 4, me, staged)
            cuda.syncthreads()
            read(sa, (side, 0), y, HALF, a0)
            read(sb, (side, 0), x, HALF, b0)
            add_outer_product(sums, a1, b1)

        # A warp holds four rows of quads and all columns of two groups of 32. One of each thread's
        # rows at a time goes through shared memory, and comes back as 32 neighbours of a row of c.
        warp, lane = t // 32, t % 32
        row, col = row + down // 4 * 16, col + across // 8 * 32
        for i in range(8):
            for j in range(0, 8, 4):
                four = sums[i, j], sums[i, j + 1], sums[i, j + 2], sums[i, j + 3]
                store4(rows, (warp, down % 4, j * 8 + across % 8 * 4), four)
            # Lanes of one warp only: no barrier of the block is needed.
            cuda.syncwarp()
            for r in range(4):
                y = uint32(row + i // 4 * HALF + r * 4 + i % 4)
                for j in range(2):
                    x = uint32(col + j * HALF + lane)
                    if y < m and x < n:
                        c[y, x] = rows[warp, r, j * 32 + lane]
            cuda.syncwarp()

    return maxwell256


def launch(shape):
    """Enough blocks for c, m×n; CourseError where n or k is no multiple of 4."""
    check_wide("maxwell256", shape)
    return Launch(grid=(-(-shape.n // TILE), -(-shape.m // TILE)), block=(THREADS,))


STEP = Step(
    module=__name__,
    name="maxwell256",
    idea="256 threads, 128×128 of c, the same design: half the reads from global memory",
    previous="maxwell64",
    task=GEMM,
    build=build,
    launch=launch,
    budget=Budget(registers=128, global_bits=128, shared_bits=128, ffma_share=0.6),
)
