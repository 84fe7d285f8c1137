"""Tiles of c in the order in which blocks take them, the last of them cut along k.

A GPU computes as many tiles at once as blocks fit on it: its slots. What is left after the last
full round would keep only a part of them busy, and a small c does not even fill one round. These
tiles are cut along k. Each slice goes into `partials`, and the block that is the last to be done
with its slice of a tile adds them into c: always in the same order, so that a result is the same
each time.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numba import cuda, uint32

from utils.wide_memory import load4, store4

# Blocks that run at the same time share rows of a and columns of b in the L2 cache: they form a
# patch, so many tiles high, and not a long row.
GROUP = 8
MOST_TAIL_SLICES = 4
# What it costs to begin a slice and to add it, in steps.
BEGINNING = 2


@dataclass(frozen=True)
class Cut:
    """The first `whole` tiles are computed by one block each; the others by `slices` blocks.

    first: the steps along k of a first slice; the other slices share the rest of `steps` evenly.
    """

    whole: int
    slices: int
    first: int
    steps: int

    def blocks(self, tiles: int) -> int:
        """How many blocks that takes."""
        return self.whole + (tiles - self.whole) * self.slices


def cut(tiles: int, slots: int, steps: int, slices: int) -> Cut:
    """How to cut `tiles` of `steps` each, of which `slots` are computed at once.

    slices: into how many parts tiles are cut that do not fill one round. Where there are full
    rounds, only what is left after them is cut, so that the free slots take over a part of it.
    """
    whole = tiles // slots * slots
    rest = tiles - whole
    if whole:
        slices = min(range(1, MOST_TAIL_SLICES + 1), key=lambda n: _first(rest, slots, steps, n))
    slices = max(1, min(slices, steps))
    if rest == 0 or slices == 1:
        return Cut(tiles, 1, steps, steps)
    first = round(_first(rest, slots, steps, slices))
    return Cut(whole, slices, max(1, min(first, steps - slices + 1)), steps)


def _first(rest: int, slots: int, steps: int, slices: int) -> float:
    """How many steps a first slice has if the free slots do all the others in the same time.

    The free slots need so many rounds for them, and each round a little longer, to begin.
    """
    if slices == 1 or rest == slots:
        return steps
    rounds = -(-rest * (slices - 1) // (slots - rest))
    other = (steps - (rounds - 1) * BEGINNING) / (rounds + slices - 1)
    return steps - (slices - 1) * max(0, other)


@cuda.jit(device=True, forceinline=True)
def tile_place(tile, down, across):
    """(row, column) of a tile among down × across: patches of GROUP rows, column by column."""
    in_a_patch = uint32(GROUP * across)
    top = uint32(tile // in_a_patch * GROUP)
    high = min(uint32(down - top), uint32(GROUP))
    inside = uint32(tile % in_a_patch)
    return uint32(top + inside % high), uint32(inside // high)


@cuda.jit(device=True, forceinline=True)
def share_of_block(tiles, steps, whole, slices, first):
    """(tile, number of the slice, first step, step after the last) of this block; see `Cut`.

    The first slices of all cut tiles come before the second ones: they are the longest.
    """
    block = uint32(cuda.blockIdx.x)
    if block < whole:
        return block, uint32(0), uint32(0), steps
    rest = uint32(tiles - whole)
    tile, piece = uint32(whole + (block - whole) % rest), uint32((block - whole) // rest)
    if piece == 0:
        return tile, piece, uint32(0), uint32(first)
    begin = uint32(first + (piece - 1) * (steps - first) // (slices - 1))
    end = uint32(first + piece * (steps - first) // (slices - 1))
    return tile, piece, begin, end


@cache
def add_slices(BM, BN, THREADS):
    """A device function for a block of THREADS whose slice of a cut tile is in partials.

    partials: BM×BN each, all first slices, then all second ones, and so on. drawn: one per cut
    tile, 0 at first and in the end.
    """
    ACROSS = BN // 4
    QUADS = BM * ACROSS

    @cuda.jit(device=True, forceinline=True)
    def add_slices_of_tile(partials, drawn, which, c, corner, shape):
        """c, m×n with n a multiple of 4, gets the tile at `corner` from its last block to be done.

        which: (number of the cut tile, cut tiles, slices of each).
        """
        number, cut, slices = which
        ticket = cuda.shared.array(1, uint32)
        t = uint32(cuda.threadIdx.x)
        # Whoever sees this block's ticket drawn also sees its slice. The counter wraps to zero.
        cuda.threadfence()
        cuda.syncthreads()
        if t == 0:
            ticket[0] = cuda.atomic.inc(drawn, number, uint32(slices - 1))
        cuda.syncthreads()
        if ticket[0] == uint32(slices - 1):
            cuda.threadfence()
            for quad in range(t, QUADS, THREADS):
                inner_row, inner_col = uint32(quad // ACROSS), uint32(quad % ACROSS * 4)
                row, col = uint32(corner[0] + inner_row), uint32(corner[1] + inner_col)
                if row < shape[0] and col < shape[1]:
                    total = load4(partials, uint32((number * BM + inner_row) * BN + inner_col))
                    for piece in range(uint32(1), slices):
                        place = uint32((piece * cut + number) * BM + inner_row)
                        total = sum4(total, load4(partials, uint32(place * BN + inner_col)))
                    store4(c, uint32(row * shape[1] + col), total)

    return add_slices_of_tile


@cuda.jit(device=True, forceinline=True)
def sum4(x, y):
    """x + y, of four elements each."""
    return x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3]


def plan(shape, BM, BN, BK, BLOCKS, SLICES) -> tuple[int, Cut]:
    """(tiles, how they are cut) for a shape on the device at hand."""
    tiles = -(-shape.m // BM) * -(-shape.n // BN)
    slots = cuda.get_current_device().MULTIPROCESSOR_COUNT * BLOCKS
    return tiles, cut(tiles, slots, steps=-(-shape.k // BK), slices=SLICES)


def arguments(variant, shape, inputs, out) -> tuple:
    """What the kernel is launched with: flat arrays, room for the slices, sizes, and the cut."""
    names = ("BM", "BN", "BK", "BLOCKS", "SLICES")
    BM, BN, BK, BLOCKS, SLICES = (variant.constants[name] for name in names)
    tiles, how = plan(shape, BM, BN, BK, BLOCKS, SLICES)
    cut_tiles = tiles - how.whole
    partials = cuda.device_array(max(1, cut_tiles * how.slices * BM * BN), np.float32)
    drawn = cuda.to_device(np.zeros(max(1, cut_tiles), np.uint32))
    sizes = shape.m, shape.n, shape.k, how.whole, how.slices, how.first
    flat = (array.ravel() for array in (*inputs, out))
    return *flat, partials, drawn, *map(np.uint32, sizes)
