"""The code around a micro-kernel's hot loop: reading and packing b, storing c, prefetching."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from numba import float32

from gemm_kernels.cpu.engine.blocks import LINE
from gemm_kernels.cpu.engine.matrices import ceil_div, inlined, inner
from utils.intrinsics.simd import (
    fmadd_row,
    load_row,
    load_row_masked,
    mul_row,
    prefetch,
    prefetch_l2,
    set1,
    store_row,
    store_row_masked,
)

PACE_BITS = 8


class Panel(NamedTuple):
    """The columns of b that one tile of c needs, and where they are packed.

    at: the address of the packed panel, whose row p is at[p * columns], padded to whole vectors.
    source, ld: the columns in b, whose row p is source[p * ld].
    width: the number of columns.
    ahead, pace: with row p of the panel, the cache line of ahead[p * pace >> PACE_BITS] is
        prefetched.
    """

    at: int
    source: int
    ld: int
    width: int
    ahead: int
    pace: int


def tile_of_width(tile_of: Callable, lanes: int, vectors: int, packs: bool) -> Callable:
    """Return a compiled tile(alpha, a, panel, beta, c) for c of 1 to `vectors` vectors of columns.

    It computes c = alpha·a·b + beta·c with the micro-kernel for as many vectors as the columns of c
    need; `vectors` is 2 or 3. `tile_of(v, packs)` returns the micro-kernel for rows of v vectors. A
    vector has `lanes` float32.
    """
    tiles = [tile_of(v, packs) for v in range(1, vectors + 1)]
    narrow, middle, wide = tiles[0], tiles[1], tiles[-1]

    # Inlined, because a call would pass the tuples through memory once more.
    @inlined
    def tile(alpha, a, panel, beta, c):
        needed = ceil_div(c.width, lanes)
        if needed == 1:
            narrow(alpha, a, panel, beta, c)
        elif needed == 2:
            middle(alpha, a, panel, beta, c)
        else:
            wide(alpha, a, panel, beta, c)

    return tile


def row_reader(lanes: int, vectors: int, packs: bool) -> Callable:
    """Return a compiled function (panel, p) -> row p of a Panel, a tuple of `vectors` vectors.

    If `packs`, the function reads the row from b and stores it in the packed panel. Otherwise it
    reads the row from the packed panel, and prefetches. A vector has `lanes` float32.
    """
    columns = lanes * vectors

    @inlined
    def read_and_pack(panel, p):
        if panel.width < columns:
            row = load_row_masked(panel.source, p * panel.ld, lanes, vectors, panel.width)
        else:
            row = load_row(panel.source, p * panel.ld, lanes, vectors)
        store_row(panel.at, p * columns, row)
        return row

    @inlined
    def read(panel, p):
        # The next panel may come from L3, which is too slow for the first tile that reads it.
        prefetch_l2(panel.ahead, p * panel.pace >> PACE_BITS)
        return load_row(panel.at, p * columns, lanes, vectors)

    return read_and_pack if packs else read


@cache
def tile_writer(rows: int, lanes: int, vectors: int) -> Callable:
    """Return a compiled function (c, alpha, tile, beta) that stores alpha·tile + beta·c into c.

    `tile` is a tuple of `rows` rows of `vectors` vectors, and c a Matrix; elements outside of c are
    not stored. With beta = 0, c is not read. A vector has `lanes` float32.
    """
    write_row, last = row_writer(lanes, vectors), rows - 1
    # The index into a tuple must be a constant for the compiler, so each row has its own function,
    # which writes the rows before it first.
    write_others = tile_writer(last, lanes, vectors) if last else write_nothing

    @inlined
    def write(c, alpha, tile, beta):
        write_others(c, alpha, tile, beta)
        if last < c.height:
            write_row(c, last * c.row, alpha, tile[last], beta)

    return write


def tile_adder(rows: int, lanes: int, vectors: int) -> Callable:
    """Return a compiled function (c, tile) that adds a tile to the Matrix c, up to its edges.

    `tile` is a tuple of `rows` rows of `vectors` vectors. A vector has `lanes` float32.
    """
    write = tile_writer(rows, lanes, vectors)

    @inlined
    def add(c, tile):
        write(c, float32(1), tile, float32(1))

    return add


@inlined
def write_nothing(c, alpha, tile, beta):
    """Do nothing.

    `tile_writer` begins with this function and adds the function of one row after another.
    """
    pass


@cache
def row_writer(lanes: int, vectors: int) -> Callable:
    """Return a compiled function (c, start, alpha, row, beta) that stores alpha·row + beta·c in c.

    `row` is a tuple of `vectors` vectors. It goes to c.at[start] and the elements after it, and
    only c's own columns are stored. With beta = 0, c is not read. A vector has `lanes` float32.
    """

    @inner
    def write_edge(c, start, row, beta):
        if beta != 0:
            old = load_row_masked(c.at, start, lanes, vectors, c.width)
            row = fmadd_row(set1(beta, lanes), old, row)
        store_row_masked(c.at, start, row, c.width)

    # Inlined, because a call would pass the row through memory.
    @inlined
    def write(c, start, alpha, row, beta):
        row = mul_row(set1(alpha, lanes), row)
        if c.width < lanes * vectors:
            write_edge(c, start, row, beta)
        elif beta == 0:
            store_row(c.at, start, row)
        else:
            old = load_row(c.at, start, lanes, vectors)
            store_row(c.at, start, fmadd_row(set1(beta, lanes), old, row))

    return write


@inlined
def prefetch_row(c, i, columns):
    """Prefetch the cache lines of the first `columns` columns of row i of the Matrix c.

    The row may be outside of c.
    """
    for col in range(0, columns, LINE):
        prefetch(c.at, i * c.row + col)
    # If the row does not begin with a cache line, it has a part of one more.
    prefetch(c.at, i * c.row + columns - 1)
