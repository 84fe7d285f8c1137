"""No guards within the loop, thanks to flat arrays, running addresses and clamped loads."""

from dataclasses import replace
from functools import cache

import numpy as np
from numba import cuda, float32, uint32, void

from gemm_kernels.parts.blocks import check_wide, clear, outer_product, put_columns, read_fragment
from gemm_kernels.parts.flat_blocks import FLAT, loaders, store_of
from utils.division import cdiv
from utils.intrinsics.wide_memory import commit_copies, store4, wait_copies
from utils.ladder.step import Budget, Call, Launch, Step
from utils.ladder.tasks import GEMM

TM, TN = 16, 8


@cache
def build(BM, BN, BK):
    """Return the kernel (a, b, c, m, n, k) that computes c = a·b on flat arrays.

    A block computes BM×BN of c and a thread 16×8. A tile has BK steps of k.
    """
    WARPS_ACROSS = BN // TN // 8
    THREADS = BM // TM * (BN // TN)
    LOADS_A = BM * BK // 4 // THREADS
    QUADS_A, QUADS_B = BK // 4, BN // 4
    ROWS_A = THREADS // QUADS_A
    PADDED = BM + 4
    LAST = BK - 1
    APART_Y, APART_X = BM * 4 // TM, BN * 4 // TN
    add_outer_product = outer_product(TM, TN)
    load_first, load_next = loaders(BM, BN, BK, THREADS)
    store_inside = store_of(TM, TN, APART_Y, APART_X, GUARDED=True)

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

    # Addresses advance by one addition and are always inside, so no load checks an edge; flaw: sums
    # and fragments are where 128-bit accesses want them, which causes register bank conflicts.
    @cuda.jit
    def guard_free(a, b, c, m, n, k):
        sa = cuda.shared.array((2, BK, PADDED), float32, alignment=16)
        sb = cuda.shared.array((2, BK, BN), float32, alignment=16)
        sums = cuda.local.array((TM, TN), float32)
        next_a = cuda.local.array((LOADS_A, 4), float32)
        at_a = cuda.local.array(LOADS_A, uint32)
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
        # If k is no multiple of BK, the very first tile is the short one: it begins before the
        # matrices, where unsigned indices are huge, and is filled up with zeros. No other tile has
        # an edge along k. Beyond the last row or column, a thread loads the last one again, and
        # its result is not stored. So nothing is checked within the loop.
        start, side = uint32(k - (k + BK - 1) // BK * BK), uint32(0)
        down_a, z_a = t // QUADS_A, uint32(t % QUADS_A * 4)
        down_b, x_b = t // QUADS_B, uint32(t % QUADS_B * 4)
        at_b = uint32((start + down_b) * n + min(uint32(col + x_b), uint32(n - 4)))
        for load in range(LOADS_A):
            from_row = min(uint32(row + down_a + load * ROWS_A), uint32(m - 1))
            at_a[load] = uint32(from_row * k + start + z_a)
        # The last iteration reads ahead values that are not used, but they must have been written.
        zero = float32(0)
        store4(sb, (uint32(1), t // QUADS_B, uint32(t % QUADS_B * 4)), (zero, zero, zero, zero))
        load_first(a, b, at_a, at_b, start, n, k, t, next_a, sa, sb)
        cuda.syncthreads()
        read_fragment(sa, (side, 0), y, APART_Y, a0)
        read_fragment(sb, (side, 0), x, APART_X, b0)

        while start != k:
            start, other = uint32(start + BK), side ^ uint32(1)
            if start != k:
                at_b = load_next(a, b, at_a, at_b, n, (down_b, x_b), next_a, sb, other)
            commit_copies()
            multiply_tile(sa, sb, side, y, x, a0, b0, a1, b1, sums)
            side = other
            # The last iteration writes the same values again, to a buffer that nobody reads: with a
            # branch, the compiler would not interleave these stores with multiply-adds.
            put_columns(sa, side, QUADS_A, me, next_a)
            wait_copies(0)
            cuda.syncthreads()
            read_fragment(sa, (side, 0), y, APART_Y, a0)
            read_fragment(sb, (side, 0), x, APART_X, b0)
            add_outer_product(sums, a1, b1)

        store_inside(sums, c, (row, col), (y, x), (m, n), float32(1))

    return guard_free


def launch(shape, BM, BN, BK):
    """Return a launch with one thread block per BM×BN tile of c.

    Axis x of the grid counts tiles along n, and axis y along m. BK has no influence on the launch.
    Raises CourseError unless n and k are multiples of 4.
    """
    check_wide("guard_free", shape)
    return Launch(grid=(cdiv(shape.n, BN), cdiv(shape.m, BM)), block=(BM // TM * (BN // TN),))


def calls(variant, shape, inputs, out, allocate):
    """Return a tuple of one Call, for flat a, b and out, then m, n and k as uint32.

    `inputs` are a and b, in C order; `allocate` is not used.
    """
    flat = (array.ravel() for array in (*inputs, out))
    sizes = map(np.uint32, (shape.m, shape.n, shape.k))
    return (Call(variant.kernel, variant.launch(shape), (*flat, *sizes)),)


STEP = Step(
    module=__name__,
    name="guard_free",
    idea="flat arrays, clamped loads: nothing is checked within the loop; no faster by itself",
    previous="async_copy",
    task=replace(GEMM, signature=void(FLAT, FLAT, FLAT, *[uint32] * 3)),
    build=build,
    launch=launch,
    calls=calls,
    choices={"BM": (128,), "BN": (256, 128), "BK": (8,)},
    budget=Budget(global_bits=128, shared_bits=128, ffma_share=0.85),
    capability=(8, 0),
)
