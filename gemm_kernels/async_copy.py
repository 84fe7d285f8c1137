"""The copy engine fills the tile of b while the threads compute: no register is passed through."""

from functools import cache

from numba import cuda, float32, uint32

from gemm_kernels.parts.blocks import (
    check_wide,
    fetch,
    outer_product,
    put_columns,
    read,
    store_quad,
)
from utils.intrinsics.wide_memory import commit_copies, copy4_async, store4, wait_copies
from utils.ladder.step import Budget, Launch, Step
from utils.ladder.tasks import GEMM


@cache
def copier(LOADS):
    """A device function that starts to copy a thread's LOADS quads of a tile of x."""

    @cuda.jit(device=True, forceinline=True)
    def start_copies(x, corner, across, workers, shared, side):
        """corner, across and workers as for `fetch`; into one side of shared memory.

        What lies outside x becomes zero: that the copy engine cannot do.
        """
        for load in range(LOADS):
            q = uint32(workers[0] + load * workers[1])
            row, col = uint32(corner[0] + q // across), uint32(corner[1] + q % across * 4)
            to = side, q // across, q % across * 4
            if row < uint32(x.shape[0]) and col < uint32(x.shape[1]):
                copy4_async(shared, to, x, (row, col))
            else:
                store4(shared, to, (float32(0), float32(0), float32(0), float32(0)))

    return start_copies


@cache
def build(BM, BN, BK):
    """The kernel for BM×BN of c a block, BK steps of k a tile, and 16×8 of c a thread."""
    TM, TN = 16, 8
    ACROSS = BN // TN
    THREADS = BM // TM * ACROSS
    WARPS_ACROSS = ACROSS // 8
    LOADS = BM * BK // 4 // THREADS
    start_copies = copier(BK * BN // 4 // THREADS)
    QUADS_A, QUADS_B = BK // 4, BN // 4
    PADDED = BM + 4
    LAST = BK - 1
    add_outer_product = outer_product(TM, TN)

    @cuda.jit
    def async_copy(a, b, c):
        k = uint32(a.shape[1])
        sa = cuda.shared.array((2, BK, PADDED), float32, alignment=16)
        sb = cuda.shared.array((2, BK, BN), float32, alignment=16)
        sums = cuda.local.array((TM, TN), float32)
        next_a = cuda.local.array((LOADS, 4), float32)
        a0 = cuda.local.array(TM, float32)
        b0 = cuda.local.array(TN, float32)
        a1 = cuda.local.array(TM, float32)
        b1 = cuda.local.array(TN, float32)
        t = uint32(cuda.threadIdx.x)
        me = t, THREADS
        row, col = uint32(cuda.blockIdx.y * BM), uint32(cuda.blockIdx.x * BN)
        warp, lane = t // 32, t % 32
        y = (warp // WARPS_ACROSS * 4 + lane // 8) * 4
        x = (warp % WARPS_ACROSS * 8 + lane % 8) * 4

        for i in range(TM):
            for j in range(TN):
                sums[i, j] = float32(0)
        start, side = uint32(0), uint32(0)
        fetch(a, (row, start), QUADS_A, me, next_a)
        start_copies(b, (start, col), QUADS_B, me, sb, side)
        commit_copies()
        put_columns(sa, side, QUADS_A, me, next_a)
        wait_copies(0)
        cuda.syncthreads()
        read(sa, (side, 0), y, BM // 4, a0)
        read(sb, (side, 0), x, BN // 2, b0)

        while start < k:
            start, other = uint32(start + BK), side ^ uint32(1)
            # The other side was last read before the barrier of the turn before: the copy may begin
            # to overwrite it at once. a has to be transposed, so it goes through registers.
            fetch(a, (row, start), QUADS_A, me, next_a)
            start_copies(b, (start, col), QUADS_B, me, sb, other)
            commit_copies()
            z = uint32(1)
            while z < LAST:
                # 16×8 multiply-adds for six reads of 128 bits, where 8×8 takes four for half of it.
                read(sa, (side, z), y, BM // 4, a1)
                read(sb, (side, z), x, BN // 2, b1)
                add_outer_product(sums, a0, b0)
                read(sa, (side, z + 1), y, BM // 4, a0)
                read(sb, (side, z + 1), x, BN // 2, b0)
                add_outer_product(sums, a1, b1)
                z = uint32(z + 2)
            read(sa, (side, LAST), y, BM // 4, a1)
            read(sb, (side, LAST), x, BN // 2, b1)
            add_outer_product(sums, a0, b0)
            side = other
            put_columns(sa, side, QUADS_A, me, next_a)
            # A copy is complete for the thread that waits; the barrier makes it so for all.
            wait_copies(0)
            cuda.syncthreads()
            read(sa, (side, 0), y, BM // 4, a0)
            read(sb, (side, 0), x, BN // 2, b0)
            add_outer_product(sums, a1, b1)

        # Flaw: the registers lie as these stores want them, and so the operands of many
        # multiply-adds meet in one bank; and the last round of blocks leaves part of the GPU idle.
        for i in range(TM):
            to_row = row + y + i // 4 * (BM // 4) + i % 4
            for j in range(0, TN, 4):
                four = sums[i, j], sums[i, j + 1], sums[i, j + 2], sums[i, j + 3]
                store_quad(c, to_row, col + x + j // 4 * (BN // 2), four)

    return async_copy


def launch(shape, BM, BN, BK):
    """Enough blocks for c, m×n; CourseError where n or k is no multiple of 4."""
    check_wide("async_copy", shape)
    return Launch(grid=(-(-shape.n // BN), -(-shape.m // BM)), block=(BM // 16 * (BN // 8),))


STEP = Step(
    module=__name__,
    name="async_copy",
    idea="tiles of b by asynchronous copies, past the registers; 16×8 of c per thread",
    previous="maxwell256",
    task=GEMM,
    build=build,
    launch=launch,
    choices={"BM": (128,), "BN": (256, 128), "BK": (8,)},
    budget=Budget(global_bits=128, shared_bits=128),
    capability=(8, 0),
)
