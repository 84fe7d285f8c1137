"""The order in which blocks take the tiles of c, and how the last tiles are cut along k.

A GPU computes as many tiles at once as blocks fit on it: its slots. The tiles after the last full
wave would occupy only a part of the slots, and a small c does not even fill one wave. These tiles
are cut along k. The first slice of a tile is stored in c, the others in `partials`, and
`add_slices` adds them: always in the same order, so that a result is the same each time. When the
last block of each tile added them instead, in the same launch, that took 2 us longer at 512,
because one block has few loads in flight.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numba import cuda, uint32

from utils.division import cdiv
from utils.intrinsics.wide_memory import load4, store4
from utils.ladder.step import Call, Launch

# Blocks that run at the same time share rows of a and columns of b in the L2 cache, because they
# form a patch of this many tiles in height and not a long row.
GROUP = 8
# An SM does not serve its blocks equally, so its slots become free at different times, and an early
# one takes a second slice. Small slices even that out: with two slices per tile, some SMs had a
# whole tile more to do than others, which at 4096 is a tenth of the time.
REST_SLICES = 4
# A shorter slice is hardly worth storing and adding: beginning a slice costs about four steps.
FEWEST_STEPS = 16
ADDERS = 256
ONE = np.float32(1)


@dataclass(frozen=True)
class Cut:
    """How the tiles of c are cut along k.

    whole: the number of tiles that have one thread block each; they come first.
    slices: the number of slices, with a thread block each, of every other tile.
    """

    whole: int
    slices: int

    def blocks(self, tiles: int) -> int:
        """Return the number of thread blocks that compute `tiles` tiles."""
        return self.whole + (tiles - self.whole) * self.slices


def cut(tiles: int, slots: int, steps: int, slices: int) -> Cut:
    """Return how to cut `tiles` tiles of `steps` steps of k, of which `slots` are computed at once.

    `slices` is the number of slices per tile if the tiles do not fill one wave. If there are full
    waves, `slices` is ignored, and only the tiles after the last full wave are cut, into at most
    REST_SLICES slices of at least FEWEST_STEPS steps. If that allows no cut, all tiles are whole.
    """
    whole = tiles // slots * slots
    if whole:
        slices = min(REST_SLICES, steps // FEWEST_STEPS)
    slices = max(1, min(slices, steps))
    if whole == tiles or slices == 1:
        return Cut(tiles, 1)
    return Cut(whole, slices)


@cuda.jit(device=True, forceinline=True)
def tile_place(tile, down, across):
    """Return (row, column) of tile number `tile`, counted by columns within bands of GROUP rows.

    Row and column are in tiles; c has `down` rows and `across` columns of tiles.
    """
    in_a_patch = uint32(GROUP * across)
    top = uint32(tile // in_a_patch * GROUP)
    high = min(uint32(down - top), uint32(GROUP))
    inside = uint32(tile % in_a_patch)
    return uint32(top + inside % high), uint32(inside // high)


@cuda.jit(device=True, forceinline=True)
def share_of_block(tiles, steps, whole, slices):
    """Return (tile, number of the slice, first step, step after the last) of this block.

    c has `tiles` tiles of `steps` steps of k. The first `whole` tiles have one block each, the
    others `slices` blocks.
    """
    block = uint32(cuda.blockIdx.x)
    if block < whole:
        return block, uint32(0), uint32(0), steps
    rest = uint32(tiles - whole)
    tile, piece = uint32(whole + (block - whole) % rest), uint32((block - whole) // rest)
    return tile, piece, uint32(piece * steps // slices), uint32((piece + 1) * steps // slices)


@cache
def add_slices(BM, BN, SLICES):
    """Return the kernel that adds all slices of a cut tile but the first, from partials, to c, m×n.

    Its arguments are (c, partials, m, n, whole), where `whole` is the number of tiles that are not
    cut. partials has BM×BN per slice, slice by slice. n is a multiple of 4. Axis x of the grid
    counts the cut tiles. Along axis y, ADDERS threads per block compute four elements each.
    """

    @cuda.jit
    def add_slices(c, partials, m, n, whole):
        across, down = uint32((n + BN - 1) // BN), uint32((m + BM - 1) // BM)
        quad = uint32((cuda.blockIdx.y * ADDERS + cuda.threadIdx.x) * 4)
        tile_row, tile_col = tile_place(uint32(whole + cuda.blockIdx.x), down, across)
        row, col = uint32(tile_row * BM + quad // BN), uint32(tile_col * BN + quad % BN)
        if quad < BM * BN and row < m and col < n:
            x0, x1, x2, x3 = load4(c, uint32(row * n + col))
            # Their number is a constant, so that all loads are in flight at the same time.
            for piece in range(SLICES - 1):
                tile = uint32(uint32(piece) * cuda.gridDim.x + cuda.blockIdx.x)
                y0, y1, y2, y3 = load4(partials, uint32(tile * (BM * BN) + quad))
                x0, x1, x2, x3 = x0 + y0, x1 + y1, x2 + y2, x3 + y3
            store4(c, uint32(row * n + col), (x0, x1, x2, x3))

    return add_slices


def plan(shape, BM, BN, BK, BLOCKS, SLICES) -> tuple[int, Cut]:
    """Return (number of tiles of c, how they are cut) for a shape on the current device.

    BLOCKS is the number of blocks per SM, and SLICES the number of slices per tile if the tiles do
    not fill one wave.
    """
    tiles = cdiv(shape.m, BM) * cdiv(shape.n, BN)
    slots = cuda.get_current_device().MULTIPROCESSOR_COUNT * BLOCKS
    return tiles, cut(tiles, slots, steps=cdiv(shape.k, BK), slices=SLICES)


def products(variant, shape, inputs, out, allocate, alpha=ONE) -> tuple[Call, ...]:
    """Return the calls for out = alpha·a·b: the kernel and, if tiles are cut, the adding of slices.

    `variant` is one of `split_k` or `autotuned`, `inputs` are a and b in C order, and
    `allocate(size, dtype)` gives memory for the slices. The kernel takes flat arrays, that memory,
    alpha as float32, the sizes and the cut.
    """
    names = ("BM", "BN", "BK", "BLOCKS", "SLICES")
    BM, BN, BK, BLOCKS, SLICES = (variant.constants[name] for name in names)
    tiles, how = plan(shape, BM, BN, BK, BLOCKS, SLICES)
    cut_tiles = tiles - how.whole
    a, b, c = (array.ravel() for array in (*inputs, out))
    # If nothing is cut, no slice is stored, and any array will do.
    partials = allocate(cut_tiles * (how.slices - 1) * BM * BN, np.float32) if cut_tiles else c
    sizes = map(np.uint32, (shape.m, shape.n, shape.k, how.whole, how.slices))
    m, n, k, whole, slices = sizes
    arguments = a, b, c, partials, alpha, m, n, k, whole, slices
    product = Call(variant.kernel, variant.launch(shape), arguments)
    if how.slices == 1:
        return (product,)
    over = Launch(grid=(cut_tiles, cdiv(BM * BN // 4, ADDERS)), block=(ADDERS,))
    return product, Call(add_slices(BM, BN, how.slices), over, (c, partials, m, n, whole))
