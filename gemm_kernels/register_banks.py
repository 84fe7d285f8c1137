"""Few register bank conflicts: products go back and forth, and what is stored is not the sums."""

from dataclasses import replace
from functools import cache

import numpy as np
from numba import cuda, float32, uint32, void

from gemm_kernels.parts.blocks import check_wide, clear
from gemm_kernels.parts.flat_blocks import (
    FLAT,
    back_and_forth,
    loaders,
    multiply_of,
    read_fragment_uint32,
    store_of,
    warps_in_rows,
)
from utils.division import cdiv
from utils.intrinsics.wide_memory import commit_copies, store4, wait_copies
from utils.ladder.step import Budget, Call, Launch, Step
from utils.ladder.tasks import GEMM

TM, TN = 16, 8


@cache
def build(BM, BN, BK):
    """Return the kernel (a, b, c, alpha, m, n, k) that computes c = alpha·a·b on flat arrays.

    A block computes BM×BN of c and a thread 16×8. A tile has BK steps of k.
    """
    THREADS = BM // TM * (BN // TN)
    LOADS_A = BM * BK // 4 // THREADS
    QUADS_A, QUADS_B = BK // 4, BN // 4
    ROWS_A = THREADS // QUADS_A
    PADDED = BM + 4
    APART_Y, APART_X = BM * 4 // TM, BN * 4 // TN
    place = warps_in_rows(BN // TN)
    add_outer_product = back_and_forth(TM, TN, ORDER=0)
    multiply_tile = multiply_of(BK, APART_Y, APART_X, add_outer_product)
    load_first, load_next = loaders(BM, BN, BK, THREADS)
    store_inside = store_of(TM, TN, APART_Y, APART_X, GUARDED=True)

    # Neighbouring multiply-adds share an operand, and alpha·sums, not the sums, are where a 128-bit
    # store wants them; flaw: the last wave of blocks leaves a part of the SMs idle.
    @cuda.jit
    def register_banks(a, b, c, alpha, m, n, k):
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
        row, col = uint32(cuda.blockIdx.y * BM), uint32(cuda.blockIdx.x * BN)
        y, x = place(t)

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
        read_fragment_uint32(sa, (side, uint32(0)), y, APART_Y, a0)
        read_fragment_uint32(sb, (side, uint32(0)), x, APART_X, b0)

        while start != k:
            start, other = uint32(start + BK), side ^ uint32(1)
            if start != k:
                at_b = load_next(a, b, at_a, at_b, n, (down_b, x_b), next_a, sb, other)
            commit_copies()
            multiply_tile(sa, sb, side, y, x, a0, b0, a1, b1, sums)
            side = other
            # The last iteration writes the same values again, to a buffer that nobody reads: with a
            # branch, the compiler would not interleave these stores with multiply-adds.
            for load in range(LOADS_A):
                for j in range(4):
                    sa[side, z_a + j, down_a + load * ROWS_A] = next_a[load, j]
            wait_copies(0)
            cuda.syncthreads()
            read_fragment_uint32(sa, (side, uint32(0)), y, APART_Y, a0)
            read_fragment_uint32(sb, (side, uint32(0)), x, APART_X, b0)
            add_outer_product(sums, a1, b1)

        store_inside(sums, c, (row, col), (y, x), (m, n), alpha)

    return register_banks


def launch(shape, BM, BN, BK):
    """Return a launch with one thread block per BM×BN tile of c.

    Axis x of the grid counts tiles along n, and axis y along m. BK has no influence on the launch.
    Raises CourseError unless n and k are multiples of 4.
    """
    check_wide("register_banks", shape)
    return Launch(grid=(cdiv(shape.n, BN), cdiv(shape.m, BM)), block=(BM // TM * (BN // TN),))


def calls(variant, shape, inputs, out, allocate):
    """Return a tuple of one Call, for flat a, b and out, alpha = 1, and m, n and k as uint32.

    `inputs` are a and b, in C order; `allocate` is not used.
    """
    flat = (array.ravel() for array in (*inputs, out))
    sizes = map(np.uint32, (shape.m, shape.n, shape.k))
    return (Call(variant.kernel, variant.launch(shape), (*flat, np.float32(1), *sizes)),)


STEP = Step(
    module=__name__,
    name="register_banks",
    idea="multiply-adds back and forth, the sums in other banks than b: few bank conflicts",
    previous="guard_free",
    task=replace(GEMM, signature=void(FLAT, FLAT, FLAT, float32, *[uint32] * 3)),
    build=build,
    launch=launch,
    calls=calls,
    choices={"BM": (128,), "BN": (256, 128), "BK": (8,)},
    budget=Budget(global_bits=128, shared_bits=128, ffma_share=0.88),
    capability=(8, 0),
)
