"""The product of padded copies, stored into a result of any width, with alpha and beta.

`autotuned` loads 16 bytes at once, so it needs rows of a and b that begin at multiples of 16 bytes.
Copies of them have such rows; a copy of the result would have to be read again and written once
more. This kernel has the loop of `autotuned` and the stores of `strided`: c need not be aligned.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import cuda, float32, uint32

from gemm_kernels.parts.blocks import clear
from gemm_kernels.parts.flat_blocks import (
    back_and_forth,
    loaders,
    multiply_of,
    read_fragment_uint32,
    store_of,
    warps_in_rows,
)
from gemm_kernels.parts.row_stores import in_turn, narrow_row, wide_row
from gemm_kernels.parts.slices import plan, share_of_block, tile_place
from gemm_kernels.parts.strided import adding_of, of_result
from utils.intrinsics.wide_memory import commit_copies, store4, wait_copies
from utils.ladder.step import Call, Launch


@cache
def kernel_of(BM, BN, BK, TM, TN, BLOCKS, ORDER):
    """Return the kernel that computes alpha·a·b + beta·c into c, for padded a and b and any c.

    Its arguments are (a, b, c, partials, alpha, beta, sizes, n, of_c, shares): flat arrays, memory
    for slices, (m, columns of b, k), of which the last two are multiples of 4, the columns of c,
    (stride of a row of c, 1 if c is stored four elements at a time), and (number of whole tiles,
    slices per other tile). The constants are those of `autotuned`.
    """
    THREADS = BM // TM * (BN // TN)
    LOADS_A = BM * BK // 4 // THREADS
    QUADS_A, QUADS_B = BK // 4, BN // 4
    ROWS_A = THREADS // QUADS_A
    APART_Y, APART_X = BM * 4 // TM, BN * 4 // TN
    PADDED, WARPS = BM + 4, THREADS // 32
    place = warps_in_rows(BN // TN)
    add_outer_product = back_and_forth(TM, TN, ORDER)
    multiply_tile = multiply_of(BK, APART_Y, APART_X, add_outer_product)
    load_first, load_next = loaders(BM, BN, BK, THREADS)
    store_all = store_of(TM, TN, APART_Y, APART_X, GUARDED=False)
    store_wide = in_turn([wide_row(i, TN, APART_Y, APART_X) for i in range(TM)])
    store_narrow = in_turn([narrow_row(i, TN, APART_Y, APART_X) for i in range(TM)])

    # The loop is that of `autotuned`, where its comments stand.
    @cuda.jit(launch_bounds=(THREADS, BLOCKS))
    def padded(a, b, c, partials, alpha, beta, sizes, n, of_c, shares):
        sa = cuda.shared.array((2, BK, PADDED), float32, alignment=16)
        sb = cuda.shared.array((2, BK, BN), float32, alignment=16)
        exchange = cuda.shared.array((WARPS, 128), float32, alignment=16)
        sums = cuda.local.array((TM, TN), float32)
        next_a = cuda.local.array((LOADS_A, 4), float32)
        at_a = cuda.local.array(LOADS_A, uint32)
        a0 = cuda.local.array(TM, float32)
        b0 = cuda.local.array(TN, float32)
        a1 = cuda.local.array(TM, float32)
        b1 = cuda.local.array(TN, float32)
        m, columns, k = sizes
        whole, slices = shares
        t = uint32(cuda.threadIdx.x)
        y, x = place(t)

        down, across = uint32((m + BM - 1) // BM), uint32((columns + BN - 1) // BN)
        steps = uint32((k + BK - 1) // BK)
        tile, piece, begin, end = share_of_block(down * across, steps, whole, slices)
        tile_row, tile_col = tile_place(tile, down, across)
        row, col = uint32(tile_row * BM), uint32(tile_col * BN)

        clear(sums)
        start, side = uint32(k - (steps - begin) * BK), uint32(0)
        down_a, z_a = t // QUADS_A, uint32(t % QUADS_A * 4)
        down_b, x_b = t // QUADS_B, uint32(t % QUADS_B * 4)
        at_b = uint32((start + down_b) * columns + min(uint32(col + x_b), uint32(columns - 4)))
        for load in range(LOADS_A):
            from_row = min(uint32(row + down_a + load * ROWS_A), uint32(m - 1))
            at_a[load] = uint32(from_row * k + start + z_a)
        zero = float32(0)
        store4(sb, (uint32(1), t // QUADS_B, uint32(t % QUADS_B * 4)), (zero, zero, zero, zero))
        load_first(a, b, at_a, at_b, start, columns, k, t, next_a, sa, sb)
        cuda.syncthreads()
        read_fragment_uint32(sa, (side, uint32(0)), y, APART_Y, a0)
        read_fragment_uint32(sb, (side, uint32(0)), x, APART_X, b0)

        left = uint32(end - begin)
        while left > 0:
            left = uint32(left - 1)
            other = uint32(side ^ 1)
            if left > 0:
                at_b = load_next(a, b, at_a, at_b, columns, (down_b, x_b), next_a, sb, other)
            commit_copies()
            multiply_tile(sa, sb, side, y, x, a0, b0, a1, b1, sums)
            side = other
            for load in range(LOADS_A):
                for j in range(4):
                    sa[side, z_a + j, down_a + load * ROWS_A] = next_a[load, j]
            wait_copies(0)
            cuda.syncthreads()
            read_fragment_uint32(sa, (side, uint32(0)), y, APART_Y, a0)
            read_fragment_uint32(sb, (side, uint32(0)), x, APART_X, b0)
            add_outer_product(sums, a1, b1)

        if piece > 0:
            number = uint32((piece - 1) * (down * across - whole) + tile - whole)
            store_all(sums, partials, (uint32(number * BM), uint32(0)), (y, x), (m, BN), alpha)
        elif of_c[1] != 0:
            corner = uint32(row + y), uint32(col + x)
            store_wide(sums, c, corner, (m, n), of_c[0], (alpha, beta), exchange)
        else:
            y, x = place(uint32(t // uint32(32) * 32))
            corner = uint32(row + y), uint32(col + x)
            store_narrow(sums, c, corner, (m, n), of_c[0], (alpha, beta), exchange)

    return padded


def products(variant, shape, inputs, out, allocate, factors) -> tuple[Call, ...]:
    """Return the calls for out = alpha·a·b + beta·out: one launch, or two if tiles are cut along k.

    `variant` is one of `autotuned`, and `shape` has the m, n and k of out and of `inputs`: a, m×k,
    and b, whose columns may be more than n. Both are in C order and aligned, with k and b's columns
    multiples of 4. The rows of out are contiguous or have gaps. `allocate` gives memory for slices,
    and `factors` are (alpha, beta).
    """
    a, b = inputs
    sizes = {name: variant.constants[name] for name in ("BM", "BN", "BK", "TM", "TN", "BLOCKS")}
    BM, BN, BK, TM, TN, BLOCKS = sizes.values()
    tiles, how = plan(shape, BM, BN, BK, BLOCKS, variant.constants["SLICES"])
    elements = (tiles - how.whole) * (how.slices - 1) * BM * BN
    # If nothing is cut, no slice is stored, and any array will do.
    partials = allocate(elements, np.float32) if elements else out.flat()
    whole = np.uint32(how.whole), np.uint32(how.slices)
    arguments = (
        a.flat(), b.flat(), out.flat(), partials, *factors,
        tuple(map(np.uint32, (shape.m, b.shape[1], shape.k))), np.uint32(shape.n),
        of_result(out, shape.n), whole,
    )  # fmt: skip
    kernel = kernel_of(**sizes, ORDER=variant.constants["ORDER"])
    launch = Launch((how.blocks(tiles),), (BM // TM * (BN // TN),))
    return Call(kernel, launch, arguments), *adding_of(shape, out, partials, (BM, BN), tiles, how)
