"""The last tiles are cut along k, so that every SM has work until the end."""

from dataclasses import replace
from functools import cache

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
from gemm_kernels.parts.slices import plan, products, share_of_block, tile_place
from utils.intrinsics.wide_memory import commit_copies, store4, wait_copies
from utils.ladder.step import Budget, Launch, Step
from utils.ladder.tasks import GEMM

TM, TN = 16, 8


@cache
def kernel_of(BM, BN, BK, BLOCKS):
    """Return the kernel that computes alpha·a·b on flat arrays, with tiles cut along k.

    Its arguments are (a, b, c, partials, alpha, m, n, k, whole, slices). The first `whole` tiles
    are stored in c. The other tiles have `slices` slices each: the first slice is stored in c, the
    others in partials. A block computes BM×BN of c, or a slice of it, and a thread 16×8. A tile has
    BK steps of k. The kernel is built for BLOCKS blocks per SM.
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
    store_all = store_of(TM, TN, APART_Y, APART_X, GUARDED=False)

    # Tiles that do not fill a wave are cut along k, and another kernel adds their slices; flaw:
    # one tile and one order of products have to suit all shapes.
    @cuda.jit(launch_bounds=(THREADS, BLOCKS))
    def split_k(a, b, c, partials, alpha, m, n, k, whole, slices):
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
        y, x = place(t)

        down, across = uint32((m + BM - 1) // BM), uint32((n + BN - 1) // BN)
        steps = uint32((k + BK - 1) // BK)
        tile, piece, begin, end = share_of_block(down * across, steps, whole, slices)
        tile_row, tile_col = tile_place(tile, down, across)
        row, col = uint32(tile_row * BM), uint32(tile_col * BN)

        clear(sums)
        # If k is no multiple of BK, the very first tile is the short one: it begins before the
        # matrices, where unsigned indices are huge, and is filled up with zeros. No other tile has
        # an edge along k. Beyond the last row or column, a thread loads the last one again, and
        # its result is not stored. So nothing is checked within the loop.
        start, side = uint32(k - (steps - begin) * BK), uint32(0)
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

        left = uint32(end - begin)
        while left > 0:
            left = uint32(left - 1)
            other = uint32(side ^ 1)
            if left > 0:
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

        if piece > 0:
            number = uint32((piece - 1) * (down * across - whole) + tile - whole)
            store_all(sums, partials, (uint32(number * BM), uint32(0)), (y, x), (m, BN), alpha)
        else:
            store_inside(sums, c, (row, col), (y, x), (m, n), alpha)

    return split_k


def build(BM, BN, BK, BLOCKS, SLICES):
    """Return the kernel that computes alpha·a·b on flat arrays; SLICES has no influence on it.

    Its arguments are (a, b, c, partials, alpha, m, n, k, whole, slices); see `kernel_of`.
    """
    return kernel_of(BM, BN, BK, BLOCKS)


def launch(shape, BM, BN, BK, BLOCKS, SLICES):
    """Return a launch with one block per tile of c, or per slice of a tile that is cut along k.

    The grid has one axis. SLICES is the number of slices per tile if the tiles do not fill one
    wave. Raises CourseError unless n and k are multiples of 4.
    """
    check_wide("split_k", shape)
    tiles, how = plan(shape, BM, BN, BK, BLOCKS, SLICES)
    return Launch(grid=(how.blocks(tiles),), block=(BM // TM * (BN // TN),))


STEP = Step(
    module=__name__,
    name="split_k",
    idea="tiles that do not fill a round are cut along k: fast when small, at the price of large",
    previous="register_banks",
    task=replace(GEMM, signature=void(FLAT, FLAT, FLAT, FLAT, float32, *[uint32] * 5)),
    build=build,
    launch=launch,
    calls=products,
    choices={"BM": (128,), "BN": (256, 128), "BK": (8,), "BLOCKS": (1,), "SLICES": (4, 1, 2, 8)},
    budget=Budget(global_bits=128, shared_bits=128, ffma_share=0.88),
    capability=(8, 0),
)
