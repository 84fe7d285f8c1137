"""The five loops around a micro-kernel (F. G. Van Zee and R. A. van de Geijn, "BLIS", ACM TOMS 41,
2015), each named after its index: jc, pc, ic, jr and ir."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from numba import float32

from gemm_kernels.cpu.engine.blocks import FLOAT_BYTES, blocks_for, sizes_from, whole_lines
from gemm_kernels.cpu.engine.matrices import Matrix, ceil_div, inlined, inner, part, rows_of
from gemm_kernels.cpu.engine.packing import pack_columns
from gemm_kernels.cpu.engine.tiles import Panel, prefetch_lines, tile_of_width
from utils.intrinsics.simd import address_of, at_address, pointer
from utils.machine import processors

# From so many vectors in a row of c, aligned stores are worth the one vector more that they cost.
ROW_TO_ALIGN = 256


class Columns(NamedTuple):
    """Columns of kc rows of b, and the panels made of them.

    b: where they come from. at: where their first panel lies packed. packed: whether all their
    panels do already. step: float32 from one panel to the next for each vector it is wide.
    """

    b: Matrix
    at: int
    packed: bool
    step: int


@cache
def five_loops(tile_of: Callable, rows: int, lanes: int, vectors: int) -> Callable:
    """A compiled-on-demand function that multiplies with a micro-kernel.

    tile_of: (v, packs) -> tile(alpha, a, panel, beta, c): c = alpha·a·b + beta·c for up to `rows`
    rows of a and c, and for the columns of a Panel, which need v vectors of `lanes` float32. The
    rows of a and c are contiguous. `row_reader` reads the panel, and packs it if `packs` says so.

    The function: multiply(alpha, a, b, beta, c, memory), with a Matrix each for a, b and c, and a
    Memory, computes c = alpha·a·b + beta·c. The rows of c are contiguous. With beta = 0, c is not
    read. a has a column at least.
    """
    sizes_of = sizes_from(
        blocks_for(rows, lanes * vectors, processors.current().caches), rows, lanes, vectors
    )
    jr_loop = jr_loop_with(ir_loop_with(tile_of, rows, lanes, vectors), lanes, vectors)

    @inner
    def multiply(alpha, a, b, beta, c, memory):
        sizes = sizes_of(a, c.width, memory.room)
        mc, kc, nc = sizes.mc, sizes.kc, sizes.nc
        copy_of_a = at_address(memory.address)
        packed_b = pointer(copy_of_a, sizes.copied)
        for jc in range(0, c.width, nc):
            for pc in range(0, a.width, kc):
                # Before pc = 0, c is what it was; then alpha·a·b over all k before pc is in it.
                factor, b_block = beta if pc == 0 else float32(1), part(b, pc, jc, kc, nc)
                for ic in range(0, c.height, mc):
                    a_block = contiguous(part(a, ic, pc, mc, kc), copy_of_a)
                    # The first block of a finds b unpacked; the others read the panels it left.
                    columns = Columns(b_block, packed_b, ic > 0, sizes.step)
                    jr_loop(alpha, a_block, columns, factor, part(c, ic, jc, mc, nc))

    return multiply


def jr_loop_with(ir_loop: Callable, lanes: int, vectors: int) -> Callable:
    """mc × kc of a meet one panel of b after another."""
    widest, row_to_align = lanes * vectors, ROW_TO_ALIGN * lanes

    @inner
    def jr_loop(alpha, a, columns, beta, c):
        b, at, packed, step = columns
        jr, lead = 0, lead_of(c, lanes) if c.width >= row_to_align else 0
        while jr < c.width:
            # All columns of c before jr are done, and `at` is the place of the next panel.
            nr = panel_width(c.width - jr, widest, lanes) - lead
            panel = Columns(part(b, 0, jr, b.height, nr), at, packed, step)
            ir_loop(alpha, a, panel, beta, part(c, 0, jr, c.height, nr))
            jr, at, lead = jr + nr, pointer(at, step * ceil_div(nr, lanes)), 0

    return jr_loop


def ir_loop_with(tile_of: Callable, rows: int, lanes: int, vectors: int) -> Callable:
    """One panel of b meets one group of `rows` rows of a after another; a tile of c for each."""
    tile, packing_tile = (tile_of_width(tile_of, lanes, vectors, packs) for packs in (False, True))
    widest = lanes * vectors

    @inner
    def ir_loop(alpha, a, columns, beta, c):
        (b, at, packed, step), kc, needed = columns, a.width, ceil_div(c.width, lanes)
        panel, after, first = Panel(at, b.at, b.row, b.width), pointer(at, step * needed), 0
        if not packed and b.col == 1:
            # The first tile packs what it reads: the panel is read from b once, and then is in L1.
            packing_tile(alpha, rows_of(a, 0, rows), panel, beta, rows_of(c, 0, rows))
            first = rows
        elif not packed:
            pack_columns(b, at, needed * lanes)
        # From here on the panel is packed. Each tile asks for its share of the next one: where that
        # is packed, too, a share is so many float32, and otherwise so many rows of b.
        share = ceil_div(kc * widest if packed else kc, max(1, ceil_div(c.height - first, rows)))
        asked = 0
        for ir in range(first, c.height, rows):
            if packed:
                prefetch_lines(after, asked, share)
            elif b.col == 1:
                prefetch_rows(b, asked, min(asked + share, kc), widest)
            asked += share
            tile(alpha, rows_of(a, ir, rows), panel, beta, rows_of(c, ir, rows))

    return ir_loop


@inlined
def prefetch_rows(b, first, end, width):
    """Ask for rows `first` to `end` of what lies to the right of b."""
    right = pointer(b.at, b.width)
    for p in range(first, end):
        prefetch_lines(right, p * b.row, width)


@inner
def contiguous(a, copy):
    """A block of a with contiguous rows: itself, or its copy there."""
    if a.col == 1:
        return a
    ld = whole_lines(a.width)
    pack_columns(a, copy, ld)
    return Matrix(copy, a.height, a.width, ld, a.row)


@inner
def lead_of(c, lanes):
    """By how many columns the first panel is narrower, so that all others begin where vectors do.

    NumPy's large arrays begin 16 bytes behind a boundary, and stores that lie across two cache
    lines cost up to 1.5 % of the time (TUNING.md).
    """
    return address_of(c.at) // FLOAT_BYTES % lanes if c.row % lanes == 0 else 0


@inlined
def panel_width(left, widest, lanes):
    """Of the next panel. The last two share what is left: a single vector waits for its sums."""
    if widest < left < 2 * widest:
        return ceil_div(ceil_div(left, 2), lanes) * lanes
    return min(widest, left)
