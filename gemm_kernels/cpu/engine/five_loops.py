"""The five loops around a micro-kernel (F. G. Van Zee and R. A. van de Geijn, "BLIS", ACM TOMS 41,
2015): blocks that fit into the caches, panels of b, and tile after tile of c."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numba import float32, njit

from gemm_kernels.cpu.engine.packing import pack
from utils.intrinsics.simd import (
    address_of,
    at_address,
    fmadd_row,
    load_row,
    load_row_masked,
    mul_row,
    pointer,
    prefetch,
    set1,
    store_row,
    store_row_masked,
)
from utils.machine import processors

FLOAT_BYTES = 4
LINE = 16  # float32 in a cache line of 64 bytes
# A copied block of a, and the panels of b that several blocks meet, lie in the memory of a thread.
MOST_OF_A = 2**19
SHALLOWEST, DEEPEST = 160, 1024
THREAD_BYTES, MOST_BYTES = (4 * 2**20, 12 * 2**20), 32 * 2**20
LARGE_PAGE = 2 * 2**20  # bytes; NumPy asks Linux for such pages
# From so many vectors in a row of c, aligned stores are worth the one vector more that they cost.
ROW_TO_ALIGN = 256


@dataclass(frozen=True)
class Blocks:
    """mc × kc of a meet kc rows of b at a time; or all rows of a meet `deep` rows of b.

    The latter where those rows of a have `small` elements at most and are contiguous: c then goes
    through the registers less often.
    """

    mc: int
    kc: int
    deep: int
    small: int


# The block sizes of the source's AVX2 lesson: 64×256 of a, and 256 whole rows of b.
OF_THE_SOURCE = Blocks(mc=64, kc=256, deep=256, small=0)


def blocks_for(rows: int, columns: int, caches: tuple[int, int, int]) -> Blocks:
    """Blocks for tiles of rows × columns, from the sizes of the caches in bytes.

    A panel of b takes half of the L1 cache, where it stays while a block of a passes, which has a
    quarter of the L2 cache. Where all rows of a pass, a deep panel has the size of the L1 cache,
    and a part of it comes from the L2 cache.

    If the panel were too short then, two thirds of the L1 cache hold the rows of a alone, and b
    comes from the L2 cache. The block of a is four times as large as the L2 cache, because its rows
    come one behind another and slowly.
    """
    l1, l2, _ = (size // FLOAT_BYTES for size in caches)
    kc, deep, size_a = l1 // 2 // columns, l1 // columns, l2 // 4
    if kc < SHALLOWEST:
        kc = deep = 2 * l1 // 3 // rows
        size_a = 4 * l2
    kc, deep = min(DEEPEST, kc), min(DEEPEST, deep)
    return Blocks(mc=max(rows, size_a // kc // rows * rows), kc=kc, deep=deep, small=3 * l2)


@cache
def workspace(threads: int = 1) -> np.ndarray:
    """A row of float32 for each thread, the first one on the boundary of a large page.

    A thread has between 4 and 12 MiB, and up to eight threads have 32 MiB together. It is the same
    memory in every call, so that its pages stay mapped. No two calls use it at a time: compiled
    code holds Python's lock.
    """
    least, most = THREAD_BYTES
    room = max(least, min(most, MOST_BYTES // threads)) // FLOAT_BYTES
    page = LARGE_PAGE // FLOAT_BYTES
    memory = np.empty(threads * room + page, np.float32)
    # The lines of a large page lie on different sets of the L2 cache, those of small pages may not.
    first = -(memory.ctypes.data // FLOAT_BYTES) % page
    return memory[first : first + threads * room].reshape(threads, room)


def five_loops(tile_of: Callable, rows: int, lanes: int, vectors: int) -> Callable:
    """A compiled-on-demand function that multiplies with a micro-kernel.

    tile_of: (v, packs) -> tile(depth, a, lda, b, ldb, panel, alpha, beta, c, ldc, height, width),
    which computes `rows` rows of v vectors of `lanes` float32, and stores `height` rows and `width`
    columns of them. Row i of a is contiguous at a[i * lda], and there are `height`. b is read by
    `row_reader`. Edges take as many vectors as they need, up to `vectors`.

    The function: (m, n, k, alpha, a, a_row, a_col, b, b_row, b_col, beta, c, ldc, memory, room)
    computes c = alpha·a·b + beta·c, with element (i, p) of a at a[i * a_row + p * a_col], b
    likewise, and element (i, j) of c at c[i * ldc + j]. Of the two strides of a matrix one is 1.
    a, b and c are pointers to float32. With beta = 0, c is not read. k is at least 1.
    `memory` is the address of a thread's row of the `workspace`, and `room` its length.
    """
    columns = lanes * vectors
    blocks = blocks_for(rows, columns, processors.current().caches)
    tile, packing_tile = (_by_width(tile_of, vectors, packs) for packs in (False, True))
    mc_most, kc_most, deep, small = blocks.mc, blocks.kc, blocks.deep, blocks.small

    @njit(error_model="numpy")
    def first_tile(count, kc, a, lda, b, b_row, b_col, panel, alpha, beta, c, ldc, height, width):
        # What the others read from the panel, the first row of tiles stores there.
        if b_col == 1:
            packing_tile(count, kc, a, lda, b, b_row, panel, alpha, beta, c, ldc, height, width)
        else:
            pack(b, b_col, b_row, width, kc, panel, count * lanes)
            tile(count, kc, a, lda, b, b_row, panel, alpha, beta, c, ldc, height, width)

    @njit(error_model="numpy")
    def packing_block(mc, n, kc, alpha, a, lda, b, b_row, b_col, panel, step, beta, c, ldc):
        # Each row of tiles asks for its share of what the next panel is made of.
        share, col, lead = _ceil(kc, max(1, _ceil(mc, rows) - 1)), 0, _lead(c, ldc, n, lanes)
        while col < n:
            width = _width(n - col, columns, lanes) - lead
            count, corner = _ceil(width, lanes), pointer(c, col)
            here, ahead = pointer(b, col * b_col), pointer(b, (col + width) * b_col)
            height = min(rows, mc)
            first_tile(
                *(count, kc, a, lda, here, b_row, b_col, panel),
                *(alpha, beta, corner, ldc, height, width),
            )
            for row in range(rows, mc, rows):
                if b_col == 1:
                    first = (row // rows - 1) * share
                    for p in range(first, min(first + share, kc)):
                        prefetch_lines(ahead, p * b_row, columns)
                x, y = pointer(a, row * lda), pointer(corner, row * ldc)
                height = min(rows, mc - row)
                tile(count, kc, x, lda, here, b_row, panel, alpha, beta, y, ldc, height, width)
            col, panel, lead = col + width, pointer(panel, step * count), 0

    @njit(error_model="numpy")
    def packed_block(mc, n, kc, alpha, a, lda, panel, step, beta, c, ldc):
        # Each row of tiles asks for its share of the next panel.
        share, col, lead = _ceil(kc * columns, _ceil(mc, rows)), 0, _lead(c, ldc, n, lanes)
        while col < n:
            width = _width(n - col, columns, lanes) - lead
            count, corner = _ceil(width, lanes), pointer(c, col)
            ahead = pointer(panel, step * count)
            for row in range(0, mc, rows):
                prefetch_lines(ahead, row // rows * share, share)
                x, y = pointer(a, row * lda), pointer(corner, row * ldc)
                height = min(rows, mc - row)
                tile(count, kc, x, lda, x, 1, panel, alpha, beta, y, ldc, height, width)
            col, panel, lead = col + width, ahead, 0

    @njit(error_model="numpy")
    def multiply(m, n, k, alpha, a, a_row, a_col, b, b_row, b_col, beta, c, ldc, memory, room):
        kc, mc, size_a = _share(k, deep, 1), m, 0
        if a_col != 1 or m * kc > small:
            kc, mc = _share(k, kc_most, 1), mc_most
            # Contiguous rows are read where they lie: a copy costs as much as it brings.
            if a_col != 1:
                mc = min(mc, MOST_OF_A // kc // rows * rows)
                size_a = mc * _ceil(kc, LINE) * LINE + LINE
            mc = _share(m, mc, rows)
        packed_a = at_address(memory)
        panels, step, nc = pointer(packed_a, size_a), 0, n
        if mc < m:
            # Several blocks of a meet the same panels: they are kept, as many as there is room for.
            step = kc * lanes
            nc = ((room - size_a) // kc // columns - 1) * columns
        for j in range(0, n, nc):
            across = min(nc, n - j)
            for p in range(0, k, kc):
                depth = min(kc, k - p)
                # c already holds the sum over the k before p.
                factor, x = beta if p == 0 else float32(1), pointer(b, p * b_row + j * b_col)
                for i in range(0, m, mc):
                    height, corner = min(mc, m - i), pointer(c, i * ldc + j)
                    block, lda = pointer(a, i * a_row + p * a_col), a_row
                    if a_col != 1:
                        lda = _ceil(depth, LINE) * LINE
                        # One panel with the columns of a as its lines: rows become contiguous.
                        pack(block, a_col, a_row, depth, height, packed_a, lda)
                        block = packed_a
                    if i == 0:
                        packing_block(
                            *(height, across, depth, alpha, block, lda, x, b_row, b_col),
                            *(panels, step, factor, corner, ldc),
                        )
                    else:
                        packed_block(
                            *(height, across, depth, alpha, block, lda),
                            *(panels, step, factor, corner, ldc),
                        )

    return multiply


def _by_width(tile_of: Callable, vectors: int, packs: bool) -> Callable:
    """The tile with as many vectors as its first argument says."""
    tiles = [tile_of(v, packs) for v in range(1, vectors + 1)]
    narrow, middle, wide = tiles[0], tiles[min(1, vectors - 1)], tiles[-1]

    @njit(error_model="numpy")
    def tile(count, kc, a, lda, b, ldb, panel, alpha, beta, c, ldc, height, width):
        if count == 1:
            narrow(kc, a, lda, b, ldb, panel, alpha, beta, c, ldc, height, width)
        elif count == 2:
            middle(kc, a, lda, b, ldb, panel, alpha, beta, c, ldc, height, width)
        else:
            wide(kc, a, lda, b, ldb, panel, alpha, beta, c, ldc, height, width)

    return tile


@njit(error_model="numpy")
def _ceil(count, size):
    """How many pieces of that size cover the count."""
    return (count + size - 1) // size


@njit(error_model="numpy")
def _share(total, most, multiple):
    """The size of equal blocks, none above `most`; a last block of a few lines would be slow."""
    return _ceil(_ceil(total, _ceil(total, most)), multiple) * multiple


@njit(error_model="numpy")
def _lead(c, ldc, n, lanes):
    """By how many columns the first panel is narrower, so that all others begin where vectors do.

    NumPy's large arrays begin 16 bytes behind a boundary, and stores that lie across two cache
    lines cost up to 1.5 % of the time (TUNING.md).
    """
    if ldc % lanes == 0 and n >= ROW_TO_ALIGN * lanes:
        return address_of(c) // FLOAT_BYTES % lanes
    return 0


@njit(error_model="numpy")
def _width(left, columns, lanes):
    """Of the next panel. The last two share what is left: a single vector waits for its sums."""
    if columns < left < 2 * columns:
        return _ceil(_ceil(left, 2), lanes) * lanes
    return min(columns, left)


@njit(error_model="numpy", forceinline=True)
def prefetch_lines(b, i, width):
    """Ask for the lines of b[i : i + width], but for the last one where they do not begin at i."""
    for col in range(0, width, LINE):
        prefetch(b, i + col)


@njit(error_model="numpy", forceinline=True)
def prefetch_row(c, i, width):
    """Ask for the lines of c[i : i + width] now; they are there when the sums are."""
    prefetch_lines(c, i, width)
    prefetch(c, i + width - 1)


def row_reader(lanes: int, vectors: int, packs: bool) -> Callable:
    """A function that gives row p of b, `lanes` × `vectors` wide.

    packs: it is read where it lies, in rows of `width` that are ldb apart, and stored in the panel.
    Otherwise it comes from the panel.
    """
    columns = lanes * vectors

    @njit(error_model="numpy", forceinline=True)
    def read_and_pack(b, ldb, panel, p, width):
        if width < columns:
            row = load_row_masked(b, p * ldb, lanes, vectors, width)
        else:
            row = load_row(b, p * ldb, lanes, vectors)
        store_row(panel, p * columns, row)
        return row

    @njit(error_model="numpy", forceinline=True)
    def read(b, ldb, panel, p, width):
        return load_row(panel, p * columns, lanes, vectors)

    return read_and_pack if packs else read


def row_writer(lanes: int, vectors: int) -> Callable:
    """A function that stores row i of a tile, if i < height: alpha·row + beta·c."""

    @njit(error_model="numpy")
    def write_edge(c, i, row, beta, width):
        if beta != 0:
            old = load_row_masked(c, i, lanes, vectors, width)
            row = fmadd_row(set1(beta, lanes), old, row)
        store_row_masked(c, i, row, width)

    # Inlined, because a call would take the row through memory.
    @njit(error_model="numpy", forceinline=True)
    def write(c, ldc, i, alpha, row, beta, height, width):
        if i >= height:
            return
        start, row = i * ldc, mul_row(set1(alpha, lanes), row)
        if width < lanes * vectors:
            write_edge(c, start, row, beta, width)
        elif beta == 0:
            store_row(c, start, row)
        else:
            old = load_row(c, start, lanes, vectors)
            store_row(c, start, fmadd_row(set1(beta, lanes), old, row))

    return write
