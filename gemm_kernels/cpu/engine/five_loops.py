"""The five loops around a micro-kernel, each named after its index: jc, pc, ic, jr and ir.

See F. G. Van Zee and R. A. van de Geijn, "BLIS", ACM TOMS 41, 2015.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from numba import float32, intp

from gemm_kernels.cpu.engine.blocks import FLOAT_BYTES, blocks_for, sizes_from
from gemm_kernels.cpu.engine.matrices import (
    Groups,
    Matrix,
    ceil_div,
    group_of,
    inlined,
    inner,
    part,
    rows_of,
)
from gemm_kernels.cpu.engine.packing import group_packer, pack_columns, rows_packer
from gemm_kernels.cpu.engine.tiles import PACE_BITS, Panel, tile_of_width
from utils.intrinsics.simd import address_of, at_address, pointer
from utils.machine import processors

# With this many vectors in a row of c, aligned stores are worth the extra vector that they cost.
ROW_TO_ALIGN = 256
ROWS_AT_A_TIME = 8  # the rows of b that are packed at a time, if all panels are packed first


class Columns(NamedTuple):
    """Some columns of kc rows of b, and the panels into which they are packed.

    b: the matrix of these columns.
    at: the address of the first packed panel.
    step: float32 from one panel to the next per vector of its width, if all panels are packed
        first. If it is 0, each panel is packed when it is needed, in the memory of the one before.
    lead: the columns by which the first panel is narrower than the others.
    """

    b: Matrix
    at: int
    step: int
    lead: int


@cache
def five_loops(tile_of: Callable, rows: int, lanes: int, vectors: int) -> Callable:
    """Return a function, compiled on demand, that multiplies with a micro-kernel.

    The result is multiply(alpha, a, b, beta, c, memory), with a Matrix each for a, b and c, and a
    Workspace. It computes c = alpha·a·b + beta·c. The rows of c are contiguous. With beta = 0, c is
    not read. a has at least one column.

    `tile_of(v, packs)` returns the micro-kernel tile(alpha, a, panel, beta, c), which computes c =
    alpha·a·b + beta·c for up to `rows` rows of a and c, and for the columns of a Panel of b, which
    need v vectors of `lanes` float32. If `packs` is true, it also packs the panel. A tile of c has
    at most `vectors` vectors of columns.
    """
    blocks = blocks_for(lanes * vectors, processors.caches())
    sizes_of = sizes_from(blocks, rows, lanes, vectors)
    groups_of, pack_panels = groups_with(rows), panels_packer(lanes, vectors)
    jr_loop = jr_loop_with(ir_loop_with(tile_of, rows, lanes, vectors), lanes, vectors)
    place_of_b, row_to_align = blocks.place_of_b(rows), ROW_TO_ALIGN * lanes

    @inner
    def multiply(alpha, a, b, beta, c, memory):
        sizes = sizes_of(a, c.width, memory.room)
        mc, kc, nc = sizes.mc, sizes.kc, sizes.nc
        copy_of_a = at_address(memory.address)
        packed_b = pointer(copy_of_a, place_of_b)
        for jc in range(0, c.width, nc):
            block = part(c, 0, jc, c.height, nc)
            lead = lead_of(block, lanes) if block.width >= row_to_align else 0
            for pc in range(0, a.width, kc):
                # At pc = 0, c has its old values; later it holds alpha·a·b over all k before pc.
                factor, b_block = beta if pc == 0 else float32(1), part(b, pc, jc, kc, nc)
                columns = Columns(b_block, packed_b, sizes.step, lead)
                if sizes.step > 0:
                    pack_panels(columns)
                for ic in range(0, c.height, mc):
                    groups = groups_of(part(a, ic, pc, mc, kc), copy_of_a, sizes.copies)
                    jr_loop(alpha, groups, columns, factor, rows_of(block, ic, mc))

    return multiply


def groups_with(rows: int) -> Callable:
    """Return a compiled function (a, copy, copies) -> Groups of `rows` rows of a Matrix a.

    If `copies`, all groups are copied to the pointer `copy`. Otherwise whole groups stay in place,
    and only a last group with too few rows is copied there.
    """
    pack = group_packer(rows)

    @inner
    def groups_of(a, copy, copies):
        whole = a.height - a.height % rows
        if not copies:
            pack(rows_of(a, whole, rows), copy)
            return Groups(a.at, a.height, a.width, a.row, a.row, a.col, copy)
        pack(a, copy)
        last = pointer(copy, whole * a.width)
        return Groups(copy, a.height, a.width, a.width, intp(1), intp(rows), last)

    return groups_of


def panels_packer(lanes: int, vectors: int) -> Callable:
    """Return a compiled function (columns) that packs all panels of its argument, some Columns.

    If rows of b are contiguous, it packs ROWS_AT_A_TIME rows of all panels at a time. A panel has
    up to `vectors` vectors of `lanes` columns.
    """
    pack_rows, widest = rows_packer(lanes), lanes * vectors

    @inner
    def pack(columns):
        b = columns.b
        # Contiguous rows are far apart, each on a page of its own, and are read to their ends.
        at_a_time = ROWS_AT_A_TIME if b.col == 1 else b.height
        for p in range(0, b.height, at_a_time):
            jr = 0
            while jr < b.width:
                panel = panel_of(columns, jr, widest, lanes)
                needed = ceil_div(panel.b.width, lanes) * lanes
                pack_rows(rows_of(panel.b, p, at_a_time), pointer(panel.at, p * needed), needed)
                jr += panel.b.width

    return pack


def jr_loop_with(ir_loop: Callable, lanes: int, vectors: int) -> Callable:
    """Return a compiled function (alpha, a, columns, beta, c) that loops over the panels of b.

    It computes c = alpha·a·b + beta·c for a as Groups, mc × kc, b as Columns, and c as a Matrix.
    `ir_loop` computes it for one panel. A panel has up to `vectors` vectors of `lanes` columns.
    """
    widest = lanes * vectors

    @inner
    def jr_loop(alpha, a, columns, beta, c):
        jr = 0
        while jr < c.width:
            # All columns of c before jr are done.
            panel = panel_of(columns, jr, widest, lanes)
            ir_loop(alpha, a, panel, beta, part(c, 0, jr, c.height, panel.b.width))
            jr += panel.b.width

    return jr_loop


def ir_loop_with(tile_of: Callable, rows: int, lanes: int, vectors: int) -> Callable:
    """Return a compiled function (alpha, a, columns, beta, c) that loops over groups of rows of a.

    It computes c = alpha·a·b + beta·c for a as Groups, one panel of b as Columns, and c as a
    Matrix. It packs the panel unless all panels are packed already. `tile_of(v, packs)` returns the
    micro-kernel for v vectors. A panel has up to `vectors` vectors of `lanes` columns.
    """
    tile, packing_tile = (tile_of_width(tile_of, lanes, vectors, packs) for packs in (False, True))

    @inner
    def ir_loop(alpha, a, columns, beta, c):
        b, first = columns.b, 0
        needed = ceil_div(b.width, lanes) * lanes
        panel = Panel(columns.at, b.at, b.row, b.width, columns.at, 0)
        if columns.step == 0 and b.col == 1:
            # The first tile packs what it reads: the panel is read from b once, and then is in L1.
            packing_tile(alpha, group_of(a, 0, rows), panel, beta, rows_of(c, 0, rows))
            first = rows
        elif columns.step == 0:
            pack_columns(b, panel.at, needed)
        # From here on the panel is packed. If all are, each tile prefetches a share of the next.
        # After the last panel this is useless, but a prefetch may point anywhere.
        ahead, pace = panel.at, 0
        if columns.step > 0:
            ahead = pointer(panel.at, needed * a.width)
            pace = ceil_div(needed << PACE_BITS, ceil_div(c.height, rows))
        share = pace * a.width >> PACE_BITS
        for ir in range(first, c.height, rows):
            panel = Panel(columns.at, b.at, b.row, b.width, ahead, pace)
            tile(alpha, group_of(a, ir, rows), panel, beta, rows_of(c, ir, rows))
            ahead = pointer(ahead, share)

    return ir_loop


@inner
def lead_of(c, lanes):
    """Return by how many columns the first panel must be narrower to align all other panels.

    `c` is a Matrix, and `lanes` the number of float32 per vector. The result is 0 if c is aligned,
    or if its rows are not all aligned alike, so that nothing helps. NumPy's large arrays begin 16
    bytes after a cache line does, and stores that cross two cache lines cost up to 1.5 % of the
    time (TUNING.md).
    """
    return address_of(c.at) // FLOAT_BYTES % lanes if c.row % lanes == 0 else 0


@inlined
def panel_of(columns, jr, widest, lanes):
    """Return the panel that begins with column jr, as Columns; no element is copied.

    `widest` is the most columns of a panel. All panels before it have whole vectors of `lanes`.
    """
    b, at, step, lead = columns
    width = panel_width(b.width - jr, widest, lanes) - (lead if jr == 0 else 0)
    place = pointer(at, step * ceil_div(jr, lanes))
    return Columns(part(b, 0, jr, b.height, width), place, step, lead)


@inlined
def panel_width(left, widest, lanes):
    """Return the width of the next panel if `left` columns are left.

    It is `widest`, or `left` if fewer columns are left. The last two panels are equally wide, up to
    a vector: otherwise the last one could be a single vector, whose multiply-adds wait for its
    sums. A vector has `lanes` columns.
    """
    if widest < left < 2 * widest:
        return ceil_div(ceil_div(left, 2), lanes) * lanes
    return min(widest, left)
