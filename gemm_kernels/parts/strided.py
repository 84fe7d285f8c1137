"""The product of matrices with any strides, any alignment and any sizes, with alpha and beta.

The kernel is that of `autotuned` with loads of one number instead of four: any element can then be
stored at any address, so a tile of a is transposed on its way, and nothing is copied before the
product.

A matrix whose elements are adjacent along k is copied asynchronously. A matrix whose elements are
adjacent across k goes through registers: an asynchronous copy of a misaligned row is written to
shared memory in 2.5 wavefronts on average, a store from registers in one. On an H200 that took 30 %
off 323×278×8943 with both matrices in columns, and 8 % off 2049³.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numba import cuda, float32, uint32

from gemm_kernels.parts.blocks import clear
from gemm_kernels.parts.flat_blocks import (
    back_and_forth,
    multiply_of,
    read_fragment_uint32,
    store_of,
    warps_in_rows,
)
from gemm_kernels.parts.row_stores import in_turn, narrow_row, wide_row
from gemm_kernels.parts.slices import ADDERS, Cut, plan, share_of_block, tile_place
from utils.division import cdiv
from utils.intrinsics.wide_memory import commit_copies, copy1_async, wait_copies
from utils.ladder.shapes import FLOAT32_BYTES
from utils.ladder.step import Call, Launch

if TYPE_CHECKING:
    from utils.launching.slots import Slot

PADDING = 4  # elements; rows of a tile begin in different banks, at multiples of 16 bytes


@dataclass(frozen=True)
class Tiling:
    """BM×BN of c per block, BK steps of k per tile, TM×TN of c per thread, BLOCKS blocks per SM.

    SLICES is the number of slices per tile if the tiles do not fill one wave.
    """

    BM: int
    BN: int
    BK: int
    TM: int
    TN: int
    BLOCKS: int
    SLICES: int = 1

    @property
    def kernel(self) -> tuple[int, ...]:
        """(BM, BN, BK, TM, TN, BLOCKS): the constants that the kernel is compiled for."""
        return self.BM, self.BN, self.BK, self.TM, self.TN, self.BLOCKS

    def sliced(self, slices: int) -> Tiling:
        """Return a copy of the tiling with `slices` as SLICES."""
        return replace(self, SLICES=slices)

    @property
    def threads(self) -> int:
        """The number of threads per block."""
        return self.BM // self.TM * (self.BN // self.TN)


@cache
def spread(ACROSS, THREADS):
    """Return a device function (t, load) -> (down, across) of thread t's load-th element of a tile.

    ACROSS is the number of elements in a row of the tile, of which neighbouring threads take
    neighbours. THREADS is the number of threads.
    """

    @cuda.jit(device=True, forceinline=True)
    def in_columns(t, load):
        return t // uint32(ACROSS) + uint32(load * (THREADS // ACROSS)), t % uint32(ACROSS)

    @cuda.jit(device=True, forceinline=True)
    def in_rows(t, load):
        return uint32(load * THREADS // ACROSS), uint32(t + load * THREADS % ACROSS)

    @cuda.jit(device=True, forceinline=True)
    def anyhow(t, load):
        number = uint32(t + load * THREADS)
        return number // uint32(ACROSS), number % uint32(ACROSS)

    if THREADS % ACROSS == 0:
        return in_columns
    return in_rows if ACROSS % THREADS == 0 else anyhow


@cache
def kernel_of(BM, BN, BK, TM, TN, BLOCKS, A_ALONG_K, B_ALONG_K):
    """Return the kernel that computes alpha·a·b + beta·c into c, for matrices with any strides.

    Its arguments are (a, b, c, partials, alpha, beta, sizes, of_a, of_b, of_c, shares): flat
    arrays, memory for slices, (m, n, k), the strides of a and b in elements, (stride of a row of c,
    1 if c is stored four elements at a time), and (number of whole tiles, slices per other tile). A
    block computes BM×BN of c, or a slice of it, and a thread TM×TN. A tile has BK steps of k. The
    kernel is built for BLOCKS blocks per SM. If A_ALONG_K, neighbouring threads load neighbours of
    a along k, otherwise across k; B_ALONG_K says the same of b.
    """
    THREADS = BM // TM * (BN // TN)
    LOADS_A, LOADS_B = BM * BK // THREADS, BN * BK // THREADS
    PADDED_A, PADDED_B = BM + PADDING, BN + PADDING
    APART_Y, APART_X = BM * 4 // TM, BN * 4 // TN
    WARPS = THREADS // 32
    place = warps_in_rows(BN // TN)
    place_a = spread(BK if A_ALONG_K else BM, THREADS)
    place_b = spread(BK if B_ALONG_K else BN, THREADS)
    add_outer_product = back_and_forth(TM, TN, ORDER=2)
    multiply_tile = multiply_of(BK, APART_Y, APART_X, add_outer_product)
    store_all = store_of(TM, TN, APART_Y, APART_X, GUARDED=False)
    store_wide = in_turn([wide_row(i, TN, APART_Y, APART_X) for i in range(TM)])
    store_narrow = in_turn([narrow_row(i, TN, APART_Y, APART_X) for i in range(TM)])

    @cuda.jit(device=True, forceinline=True)
    def in_a(t, load):
        """Return the (step of k, row) of thread t's load-th element of a's tile."""
        down, across = place_a(t, load)
        return (across, down) if A_ALONG_K else (down, across)

    @cuda.jit(device=True, forceinline=True)
    def in_b(t, load):
        """Return the (step of k, column) of thread t's load-th element of b's tile."""
        down, across = place_b(t, load)
        return (across, down) if B_ALONG_K else (down, across)

    # Each element goes to shared memory by itself, from any address to any address. A thread's
    # elements have the same stride in each tile, so an address costs one addition per tile.
    @cuda.jit(launch_bounds=(THREADS, BLOCKS))
    def strided(a, b, c, partials, alpha, beta, sizes, of_a, of_b, of_c, shares):
        sa = cuda.shared.array((2, BK, PADDED_A), float32, alignment=16)
        sb = cuda.shared.array((2, BK, PADDED_B), float32, alignment=16)
        exchange = cuda.shared.array((WARPS, 128), float32, alignment=16)
        sums = cuda.local.array((TM, TN), float32)
        at_a = cuda.local.array(LOADS_A, uint32)
        at_b = cuda.local.array(LOADS_B, uint32)
        next_a = cuda.local.array(LOADS_A, float32)
        next_b = cuda.local.array(LOADS_B, float32)
        a0 = cuda.local.array(TM, float32)
        b0 = cuda.local.array(TN, float32)
        a1 = cuda.local.array(TM, float32)
        b1 = cuda.local.array(TN, float32)
        m, n, k = sizes
        whole, slices = shares
        t = uint32(cuda.threadIdx.x)
        y, x = place(t)

        down, across = uint32((m + BM - 1) // BM), uint32((n + BN - 1) // BN)
        steps = uint32((k + BK - 1) // BK)
        tile, piece, begin, end = share_of_block(down * across, steps, whole, slices)
        tile_row, tile_col = tile_place(tile, down, across)
        row, col = uint32(tile_row * BM), uint32(tile_col * BN)

        clear(sums)
        # As in `autotuned`: the very first tile is the short one and begins before the matrices,
        # where unsigned indices are huge; beyond the last row or column the last one is loaded
        # again, and its result is not stored.
        start, side = uint32(k - (steps - begin) * BK), uint32(0)
        for load in range(LOADS_A):
            z, r = in_a(t, load)
            from_row = min(uint32(row + r), uint32(m - 1))
            at_a[load] = uint32(from_row * of_a[0] + uint32(start + z) * of_a[1])
            next_a[load] = a[at_a[load]] if uint32(start + z) < k else float32(0)
            sa[side, z, r] = next_a[load]
        for load in range(LOADS_B):
            z, r = in_b(t, load)
            from_col = min(uint32(col + r), uint32(n - 1))
            at_b[load] = uint32(uint32(start + z) * of_b[0] + from_col * of_b[1])
            next_b[load] = b[at_b[load]] if uint32(start + z) < k else float32(0)
            sb[side, z, r] = next_b[load]
        # The last iteration reads ahead values that are not used, but they must have been written.
        for ahead in range(t, BM, THREADS):
            sa[1, 0, ahead] = float32(0)
        for ahead in range(t, BN, THREADS):
            sb[1, 0, ahead] = float32(0)
        cuda.syncthreads()
        read_fragment_uint32(sa, (side, uint32(0)), y, APART_Y, a0)
        read_fragment_uint32(sb, (side, uint32(0)), x, APART_X, b0)

        step_a, step_b = uint32(BK * of_a[1]), uint32(BK * of_b[0])
        left = uint32(end - begin)
        while left > 0:
            left = uint32(left - 1)
            other = uint32(side ^ 1)
            if left > 0:
                for load in range(LOADS_A):
                    at_a[load] = uint32(at_a[load] + step_a)
                    if A_ALONG_K:
                        z, r = in_a(t, load)
                        copy1_async(sa, (other, z, r), a, at_a[load])
                    else:
                        next_a[load] = a[at_a[load]]
                for load in range(LOADS_B):
                    at_b[load] = uint32(at_b[load] + step_b)
                    if B_ALONG_K:
                        z, r = in_b(t, load)
                        copy1_async(sb, (other, z, r), b, at_b[load])
                    else:
                        next_b[load] = b[at_b[load]]
            commit_copies()
            multiply_tile(sa, sb, side, y, x, a0, b0, a1, b1, sums)
            side = other
            # The last iteration writes the same values again, to a buffer that nobody reads: with a
            # branch, the compiler would not interleave these stores with multiply-adds.
            if not A_ALONG_K:
                for load in range(LOADS_A):
                    z, r = in_a(t, load)
                    sa[side, z, r] = next_a[load]
            if not B_ALONG_K:
                for load in range(LOADS_B):
                    z, r = in_b(t, load)
                    sb[side, z, r] = next_b[load]
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

    return strided


@cache
def add_slices(SLICES):
    """Return the kernel that adds all slices of a cut tile but the first, from partials, to c.

    Its arguments are (c, partials, (m, n), (BM, BN), stride of a row of c, number of whole tiles).
    Unlike in `slices.add_slices`, the rows of c may have gaps. Axis x of the grid counts the cut
    tiles. Along axis y, ADDERS threads per block compute one element each.
    """

    @cuda.jit
    def add_slices(c, partials, sizes, tile_sizes, row_c, whole):
        m, n = sizes
        bm, bn = tile_sizes
        across, down = uint32((n + bn - 1) // bn), uint32((m + bm - 1) // bm)
        number = uint32(cuda.blockIdx.y * ADDERS + cuda.threadIdx.x)
        tile_row, tile_col = tile_place(uint32(whole + cuda.blockIdx.x), down, across)
        row, col = uint32(tile_row * bm + number // bn), uint32(tile_col * bn + number % bn)
        if number < bm * bn and row < m and col < n:
            at = uint32(row * row_c + col)
            total = c[at]
            # Their number is a constant, so that all loads are in flight at the same time.
            for piece in range(SLICES - 1):
                tile = uint32(uint32(piece) * cuda.gridDim.x + cuda.blockIdx.x)
                total += partials[uint32(tile * bm * bn + number)]
            c[at] = total

    return add_slices


def products(tiling, shape, inputs, out, allocate, factors) -> tuple[Call, ...]:
    """Return the calls for out = alpha·a·b + beta·out: one launch, or two if tiles are cut along k.

    `inputs` are a, m×k, and b, k×n, with any strides of at least 0. `out` is m×n with contiguous
    rows or rows with gaps. `allocate` gives memory for slices, and `factors` are (alpha, beta).
    """
    a, b = inputs
    tiles, how = plan(shape, tiling.BM, tiling.BN, tiling.BK, tiling.BLOCKS, tiling.SLICES)
    cut_tiles = tiles - how.whole
    # If nothing is cut, no slice is stored, and any array will do.
    elements = cut_tiles * (how.slices - 1) * tiling.BM * tiling.BN
    partials = allocate(elements, np.float32) if elements else out.flat()
    sizes = tuple(map(np.uint32, (shape.m, shape.n, shape.k)))
    of_a, of_b = (_in_elements(array.strides) for array in inputs)
    kernel = kernel_of(
        *tiling.kernel, A_ALONG_K=_along(of_a[1], of_a[0]), B_ALONG_K=_along(of_b[0], of_b[1])
    )
    arguments = (
        a.flat(), b.flat(), out.flat(), partials, *factors, sizes, of_a, of_b,
        of_result(out, shape.n), (np.uint32(how.whole), np.uint32(how.slices)),
    )  # fmt: skip
    product = Call(kernel, Launch((how.blocks(tiles),), (tiling.threads,)), arguments)
    return product, *adding_of(shape, out, partials, (tiling.BM, tiling.BN), tiles, how)


def of_result(out: Slot, n: int) -> tuple[np.uint32, np.uint32]:
    """Return what a kernel must know of out: (stride of a row in elements, 1 or 0).

    The second number is 1 if its rows, of n elements, can be stored four elements at a time.
    """
    row_c = _in_elements(out.strides)[0]
    return row_c, np.uint32(out.aligned and row_c % 4 == 0 and n % 4 == 0)


def adding_of(shape, out, partials, tile: tuple[int, int], tiles: int, how: Cut) -> list[Call]:
    """Return the call that adds the slices of cut tiles in `partials` to out, in a list.

    The list is empty if no tile is cut. `tile` is (BM, BN), `tiles` the number of tiles of out, and
    `how` says which of them are cut. The rows of out may have gaps.
    """
    if how.slices == 1:
        return []
    BM, BN = tile
    over = Launch(grid=(tiles - how.whole, cdiv(BM * BN, ADDERS)), block=(ADDERS,))
    sizes, tile_sizes = (tuple(map(np.uint32, pair)) for pair in ((shape.m, shape.n), tile))
    row_c = _in_elements(out.strides)[0]
    adding = out.flat(), partials, sizes, tile_sizes, row_c, np.uint32(how.whole)
    return [Call(add_slices(how.slices), over, adding)]


def _in_elements(strides: tuple[int, int]) -> tuple[np.uint32, np.uint32]:
    """Return (stride of a row, stride of a column) of a matrix in elements, from strides in bytes.

    A negative stride is represented modulo 2³².
    """
    # The stride of a single row may be any number; it is multiplied by 0.
    return tuple(np.uint32(stride // FLOAT32_BYTES % 2**32) for stride in strides)


def _along(of_k: int, across: int) -> bool:
    """Return True if `of_k`, the stride along k, is less than `across`, the stride across k."""
    return of_k < across
