"""Asynchronous copies fill the tile of b, past the registers, while the threads compute."""

from functools import cache

from numba import cuda, float32, uint32

from gemm_kernels.parts.blocks import (
    check_wide,
    clear,
    fetch,
    outer_product,
    put_columns,
    quad_place,
    read_fragment,
    store_tile,
)
from utils.division import cdiv
from utils.intrinsics.wide_memory import commit_copies, copy4_async, store4, wait_copies
from utils.ladder.step import Budget, Launch, Step
from utils.ladder.tasks import GEMM

TM, TN = 16, 8


@cache
def build(BM, BN, BK):
    """Return the kernel (a, b, c) that computes c = a·b, with BM×BN of c per block.

    A tile has BK steps of k, and a thread computes 16×8 of c.
    """
    WARPS_ACROSS = BN // TN // 8
    THREADS = BM // TM * (BN // TN)
    LOADS_A = BM * BK // 4 // THREADS
    QUADS_A, QUADS_B = BK // 4, BN // 4
    PADDED = BM + 4
    LAST = BK - 1
    APART_Y, APART_X = BM * 4 // TM, BN * 4 // TN
    add_outer_product = outer_product(TM, TN)

    @cuda.jit(device=True, forceinline=True)
    def start_copies(x, corner, workers, shared, side):
        for load in range(BK * BN // 4 // THREADS):
            q = uint32(workers[0] + load * workers[1])
            z, right = quad_place(q, QUADS_B)
            row, col = uint32(corner[0] + z), uint32(corner[1] + right)
            if row < uint32(x.shape[0]) and col < uint32(x.shape[1]):
                copy4_async(shared, (side, z, right), x, (row, col))
            else:
                # Elements outside x become zero; the copy engine cannot do that.
                store4(shared, (side, z, right), (float32(0), float32(0), float32(0), float32(0)))

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

    # The tile of b is copied past the registers, and a thread has 16×8 sums instead of 8×8; flaw:
    # each load still checks that it is inside the matrix, and computes its address anew.
    @cuda.jit
    def async_copy(a, b, c):
        k = a.shape[1]
        sa = cuda.shared.array((2, BK, PADDED), float32, alignment=16)
        sb = cuda.shared.array((2, BK, BN), float32, alignment=16)
        sums = cuda.local.array((TM, TN), float32)
        next_a = cuda.local.array((LOADS_A, 4), float32)
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
        start_copies(b, (start, col), me, sb, side)
        commit_copies()
        put_columns(sa, side, QUADS_A, me, next_a)
        wait_copies(0)
        cuda.syncthreads()
        read_fragment(sa, (side, 0), y, APART_Y, a0)
        read_fragment(sb, (side, 0), x, APART_X, b0)

        while start < uint32(k):
            start, other = uint32(start + BK), side ^ uint32(1)
            # The other buffer was last read before the previous iteration's barrier: the copy may
            # overwrite it at once. a has to be transposed, so it goes through registers.
            fetch(a, (row, start), QUADS_A, me, next_a)
            start_copies(b, (start, col), me, sb, other)
            commit_copies()
            multiply_tile(sa, sb, side, y, x, a0, b0, a1, b1, sums)
            side = other
            put_columns(sa, side, QUADS_A, me, next_a)
            # A copy is complete for the thread that waits; the barrier makes it so for all.
            wait_copies(0)
            cuda.syncthreads()
            read_fragment(sa, (side, 0), y, APART_Y, a0)
            read_fragment(sb, (side, 0), x, APART_X, b0)
            add_outer_product(sums, a1, b1)

        store_tile(c, (row + y, col + x), (APART_Y, APART_X), sums)

    return async_copy


def launch(shape, BM, BN, BK):
    """Return a launch with one thread block per BM×BN tile of c.

    Axis x of the grid counts tiles along n, and axis y along m. BK has no influence on the launch.
    Raises CourseError unless n and k are multiples of 4.
    """
    check_wide("async_copy", shape)
    return Launch(grid=(cdiv(shape.n, BN), cdiv(shape.m, BM)), block=(BM // TM * (BN // TN),))


STEP = Step(
    module=__name__,
    name="async_copy",
    idea="tiles of b by asynchronous copies, past the registers; 16×8 of c per thread",
    previous="warp_tiled",
    task=GEMM,
    build=build,
    launch=launch,
    choices={"BM": (128,), "BN": (256, 128), "BK": (8,)},
    budget=Budget(global_bits=128, shared_bits=128),
    capability=(8, 0),
)
