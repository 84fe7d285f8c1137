"""The last rung: registers that do not meet in a bank, no idle round, and constants from a search.

What each decision brought, and what brought nothing, is in TUNING.md.
"""

from dataclasses import replace
from functools import cache, partial

import numpy as np
from numba import cuda, float32, uint32, void

from gemm_kernels import slices
from gemm_kernels.blocks import check_wide
from gemm_kernels.choices import choose
from gemm_kernels.slices import share_of_block, tile_place
from utils.steps import Budget, Launch, Step
from utils.tasks import GEMM
from utils.wide_memory import commit_copies, copy4_async, load4, store4, wait_copies

BK = 8
WARP_DOWN, WARP_ACROSS = 4, 8


@cuda.jit(device=True, forceinline=True)
def quad_or_zeros(x, inside, at):
    """Four neighbours of a flat array by one load, or zeros."""
    if inside:
        return load4(x, at)
    return float32(0), float32(0), float32(0), float32(0)


@cuda.jit(device=True, forceinline=True)
def read(shared, at, first, apart, fragment):
    """One step of k from shared memory: quads that begin at first, first + apart, ...

    at: (side, row). As `blocks.read`, with every number an uint32: then the row is a constant part
    of the address, and reading another row takes no arithmetic.
    """
    for quad in range(len(fragment) // 4):
        four = load4(shared, (at[0], at[1], uint32(first + uint32(quad * apart))))
        for i in range(4):
            fragment[4 * quad + i] = four[i]


@cache
def outer_product(TM, TN, REVERSED):
    """sums[i, j] += x[i]·y[j], back and forth through the rows, so that operands are used again.

    A multiply-add reads three registers, and each of the two banks of the register file gives one
    a cycle. The operand that the one before had, too, is still at hand. REVERSED: rows from below.
    Which order meets fewer conflicts, nobody knows before the registers are allocated.
    """

    @cuda.jit(device=True, forceinline=True)
    def add(sums, x, y):
        for row in range(TM):
            i = TM - 1 - row if REVERSED else row
            for column in range(TN):
                j = column if i % 2 == 0 else TN - 1 - column
                sums[i, j] += x[i] * y[j]

    return add


@cache
def kernel_of(BM, BN, TM, TN, BLOCKS, REVERSED):
    """The kernel for BM×BN of c a block, TM×TN of c a thread, and BLOCKS blocks on an SM."""
    ACROSS = BN // TN
    THREADS = BM // TM * ACROSS
    WARPS_ACROSS = ACROSS // WARP_ACROSS
    LOADS_A, LOADS_B = BM * BK // 4 // THREADS, BK * BN // 4 // THREADS
    QUADS_A, QUADS_B = BK // 4, BN // 4
    ROWS_A, ROWS_B = THREADS // QUADS_A, THREADS // QUADS_B
    APART_Y, APART_X = BM * 4 // TM, BN * 4 // TN
    PADDED = BM + 4
    LAST = BK - 1
    add_outer_product = outer_product(TM, TN, REVERSED)

    @cuda.jit(device=True, forceinline=True)
    def two_steps(sa, sb, side, z, y, x, a0, b0, a1, b1, sums):
        """Multiply step z, which is in a0 and b0, and step z + 1; then z + 2 is in a0 and b0."""
        read(sa, (side, uint32(z + 1)), y, APART_Y, a1)
        read(sb, (side, uint32(z + 1)), x, APART_X, b1)
        add_outer_product(sums, a0, b0)
        read(sa, (side, uint32(z + 2)), y, APART_Y, a0)
        read(sb, (side, uint32(z + 2)), x, APART_X, b0)
        add_outer_product(sums, a1, b1)

    @cuda.jit(launch_bounds=(THREADS, BLOCKS))
    def autotuned(a, b, c, partials, m, n, k, whole, slices, first):
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
        warp, lane = t // uint32(32), t % uint32(32)
        y = uint32((warp // WARPS_ACROSS * WARP_DOWN + lane // WARP_ACROSS) * 4)
        x = uint32((warp % WARPS_ACROSS * WARP_ACROSS + lane % WARP_ACROSS) * 4)

        down, across = uint32((m + BM - 1) // BM), uint32((n + BN - 1) // BN)
        steps = uint32((k + BK - 1) // BK)
        tile, piece, begin, end = share_of_block(down * across, steps, whole, slices, first)
        tile_row, tile_col = tile_place(tile, down, across)
        row, col = uint32(tile_row * BM), uint32(tile_col * BN)

        for i in range(TM):
            for j in range(TN):
                sums[i, j] = float32(0)
        # Where k is no multiple of BK the very first tile is the short one: it begins before the
        # matrices, where unsigned numbers are huge, and is filled up with zeros. No other tile has
        # an edge along k. Beyond the last row or column a thread loads the last one once more, and
        # what it makes of it is not stored. So nothing is checked within the loop.
        start = uint32(k - (steps - begin) * BK)
        down_a, z_a = t // QUADS_A, uint32(t % QUADS_A * 4)
        down_b, x_b = t // QUADS_B, uint32(t % QUADS_B * 4)
        col_b = min(uint32(col + x_b), uint32(n - 4))
        for load in range(LOADS_A):
            from_row = min(uint32(row + down_a + load * ROWS_A), uint32(m - 1))
            at_a[load] = uint32(from_row * k + start + z_a)
            four = quad_or_zeros(a, uint32(start + z_a) < k, at_a[load])
            for j in range(4):
                next_a[load, j] = four[j]
                sa[0, z_a + j, down_a + load * ROWS_A] = four[j]
        at_b = uint32((start + down_b) * n + col_b)
        for load in range(LOADS_B):
            inside = uint32(start + down_b + load * ROWS_B) < k
            four = quad_or_zeros(b, inside, uint32(at_b + load * ROWS_B * n))
            store4(sb, (0, down_b + load * ROWS_B, x_b), four)
        cuda.syncthreads()
        side = uint32(0)
        read(sa, (side, uint32(0)), y, APART_Y, a0)
        read(sb, (side, uint32(0)), x, APART_X, b0)

        left = uint32(end - begin)
        while left > 0:
            left = uint32(left - 1)
            other = uint32(side ^ 1)
            if left > 0:
                for load in range(LOADS_A):
                    # The arrays are flat, so the next tile's address is one addition away.
                    at_a[load] = uint32(at_a[load] + BK)
                    four = load4(a, at_a[load])
                    for j in range(4):
                        next_a[load, j] = four[j]
                at_b = uint32(at_b + BK * n)
                for load in range(LOADS_B):
                    to = other, uint32(down_b + load * ROWS_B), x_b
                    copy4_async(sb, to, b, uint32(at_b + load * ROWS_B * n))
            commit_copies()
            two_steps(sa, sb, side, uint32(0), y, x, a0, b0, a1, b1, sums)
            two_steps(sa, sb, side, uint32(2), y, x, a0, b0, a1, b1, sums)
            two_steps(sa, sb, side, uint32(4), y, x, a0, b0, a1, b1, sums)
            read(sa, (side, uint32(LAST)), y, APART_Y, a1)
            read(sb, (side, uint32(LAST)), x, APART_X, b1)
            add_outer_product(sums, a0, b0)
            # In the last turn this writes once more what is there, to where nobody reads: a branch
            # would keep the compiler from mixing these stores with multiply-adds.
            for load in range(LOADS_A):
                for j in range(4):
                    sa[other, z_a + j, down_a + load * ROWS_A] = next_a[load, j]
            wait_copies(0)
            cuda.syncthreads()
            if left > 0:
                side = other
            read(sa, (side, uint32(0)), y, APART_Y, a0)
            read(sb, (side, uint32(0)), x, APART_X, b0)
            add_outer_product(sums, a1, b1)

        # One element at a time: a 128-bit store wants four registers in a row that begin at a
        # multiple of four. So does the 128-bit load of b, and then each pair sums[i, j] and b[j]
        # would lie in the same bank.
        if piece > 0:
            number = uint32((piece - 1) * (down * across - whole) + tile - whole)
            for i in range(TM):
                inner_row = uint32(number * BM + y + uint32(i // 4 * APART_Y + i % 4))
                for j in range(TN):
                    inner_col = uint32(x + uint32(j // 4 * APART_X + j % 4))
                    partials[uint32(inner_row * BN + inner_col)] = sums[i, j]
        else:
            for i in range(TM):
                to_row = uint32(row + y + uint32(i // 4 * APART_Y + i % 4))
                for j in range(TN):
                    to_col = uint32(col + x + uint32(j // 4 * APART_X + j % 4))
                    if to_row < m and to_col < n:
                        c[uint32(to_row * n + to_col)] = sums[i, j]

    return autotuned


def build(BM, BN, TM, TN, BLOCKS, REVERSED, SLICES):
    """The kernel; into how many slices tiles are cut is decided at its launch."""
    return kernel_of(BM, BN, TM, TN, BLOCKS, REVERSED)


def tail(shape, BM, BN, BLOCKS, SLICES):
    """(tiles, how they are cut) for a shape on the device at hand."""
    tiles = -(-shape.m // BM) * -(-shape.n // BN)
    slots = cuda.get_current_device().MULTIPROCESSOR_COUNT * BLOCKS
    return tiles, slices.cut(tiles, slots, steps=-(-shape.k // BK), slices=SLICES)


def launch(shape, BM, BN, TM, TN, BLOCKS, REVERSED, SLICES):
    """A block for each tile, or slice of one; CourseError where n or k is no multiple of 4."""
    check_wide("autotuned", shape)
    tiles, plan = tail(shape, BM, BN, BLOCKS, SLICES)
    return Launch(grid=(plan.blocks(tiles),), block=(BM // TM * (BN // TN),))


def bind(variant, shape, inputs, out):
    """One product as a function without arguments: the kernel, then the sum of slices if any."""
    BM, BN, BLOCKS, SLICES = (variant.constants[name] for name in ("BM", "BN", "BLOCKS", "SLICES"))
    grid, block = (getattr(variant.launch(shape), name) for name in ("grid", "block"))
    tiles, plan = tail(shape, BM, BN, BLOCKS, SLICES)
    cut_tiles = tiles - plan.whole
    partials = cuda.device_array(max(1, cut_tiles * (plan.slices - 1) * BM * BN), np.float32)
    a, b, c = (array.ravel() for array in (*inputs, out))
    m, n, k, whole, count, first = map(
        np.uint32, (shape.m, shape.n, shape.k, plan.whole, plan.slices, plan.first)
    )
    products = partial(
        variant.kernel[grid, block], a, b, c, partials, m, n, k, whole, count, first
    )
    if plan.slices == 1:
        return products
    quads = BM * BN // 4
    add = slices.add_slices(BM, BN)[(cut_tiles, -(-quads // slices.ADDERS)), slices.ADDERS]

    def execute():
        products()
        add(c, partials, m, n, whole, count)

    return execute


FLAT = float32[::1]

STEP = Step(
    name="autotuned",
    idea="few bank conflicts of registers, no idle round, and constants that a search has found",
    previous="async_copy",
    task=replace(GEMM, signature=void(FLAT, FLAT, FLAT, FLAT, *[uint32] * 6)),
    build=build,
    launch=launch,
    bind=bind,
    choose=choose,
    choices={
        "BM": (128, 64),
        "BN": (256, 128, 64, 32),
        "TM": (16, 8),
        "TN": (8, 4),
        "BLOCKS": (1, 2, 4, 6, 7, 8),
        "REVERSED": (0, 1),
        "SLICES": (1, 2, 3, 4, 6, 8, 12, 16),
    },
    budget=Budget(registers=255, global_bits=128, shared_bits=128, ffma_share=0.90),
    capability=(8, 0),
)
