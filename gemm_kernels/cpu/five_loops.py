"""The five loops around a micro-kernel (F. G. Van Zee and R. A. van de Geijn, "BLIS", ACM TOMS 41,
2015): blocks that fit into the caches, b packed once, and tile after tile of c."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numba import float32, njit

from gemm_kernels.cpu.packing import pack
from utils import cpu
from utils.simd import (
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

FLOAT_BYTES = 4
LINE = 16  # float32 in a cache line of 64 bytes
# A block of a with a panel of b fits into THREAD_BYTES, the largest blocks into WORKSPACE_BYTES.
MOST_OF_A, MOST_OF_B = 2**19, 4 * 2**20
SHALLOWEST, DEEPEST = 128, 1024
THREAD_BYTES, WORKSPACE_BYTES = 4 * 2**20, 24 * 2**20


@dataclass(frozen=True)
class Blocks:
    """mc × kc of a meet kc × nc of b at a time."""

    mc: int
    kc: int
    nc: int


# The block sizes of the source's AVX2 lesson: 64×256 of a, and 256 whole rows of b.
OF_THE_SOURCE = Blocks(mc=64, kc=256, nc=MOST_OF_B // 256)


def blocks_for(rows: int, columns: int, caches: tuple[int, int, int]) -> Blocks:
    """Blocks for tiles of rows × columns, from the sizes of the caches in bytes.

    Half of the L1 cache holds a panel of a and one of b; the rest is for what passes through, and
    for rows of a that lie where few sets of the cache serve them. The block of a takes a sixteenth
    of the L2 cache for the same reason.

    If the panels were too short then, and c went through the registers too often, two thirds of the
    L1 cache hold the rows of a alone, and b comes from the L2 cache. The block of a then has twice
    the size of the L2 cache, because its rows come one behind another and slowly, while the larger
    panel of b, which all of them meet, stays there. The block of b takes half of the L3 cache.
    """
    l1, l2, l3 = (size // FLOAT_BYTES for size in caches)
    kc, size_a = min(DEEPEST, l1 // 2 // (rows + columns)), l2 // 16
    if kc < SHALLOWEST:
        kc, size_a = min(DEEPEST, 2 * l1 // 3 // rows), 2 * l2
    mc = max(rows, min(MOST_OF_A, size_a, l3 // 4) // kc // rows * rows)
    return Blocks(mc, kc, nc=min(MOST_OF_B, l3 // 2) // kc)


@cache
def _memory(size: int) -> np.ndarray:
    return np.empty(size, np.uint8)


def workspace(threads: int = 1) -> tuple[int, int]:
    """Address of the memory for packed blocks, and the bytes of it that each thread has.

    It is the same in every call, so that its pages stay mapped. No two calls use it at a time:
    compiled code holds Python's lock.
    """
    share = max(THREAD_BYTES, WORKSPACE_BYTES // threads)
    return _memory(share * threads).ctypes.data, share


def five_loops(tile_of: Callable, rows: int, lanes: int, vectors: int) -> Callable:
    """A compiled-on-demand function that multiplies with a micro-kernel.

    tile_of: v -> tile(depth, a, lda, b, alpha, beta, c, ldc, height, width), which computes
    `rows` rows of v vectors of `lanes` float32, and stores `height` rows and `width` columns of
    them. Row i of a is contiguous at a[i * lda], and there are `height`. Edges take as many vectors
    as they need, up to `vectors`.

    The function: (m, n, k, alpha, a, a_row, a_col, b, b_row, b_col, beta, c, ldc, workspace, size)
    computes c = alpha·a·b + beta·c, with element (i, p) of a at a[i * a_row + p * a_col], b
    likewise, and element (i, j) of c at c[i * ldc + j]. Of the two strides of a matrix one is 1.
    a, b and c are pointers to float32. With beta = 0, c is not read. k is at least 1.
    `workspace` is the address of `size` bytes, THREAD_BYTES or more: with few of them blocks of b
    are narrower.
    """
    columns, blocks = lanes * vectors, blocks_for(rows, lanes * vectors, cpu.current().caches)
    tiles = [tile_of(v) for v in range(1, vectors + 1)]
    narrow, middle, wide = tiles[0], tiles[min(1, vectors - 1)], tiles[-1]
    mc_most, kc_most, nc_most = blocks.mc, blocks.kc, blocks.nc

    @njit(error_model="numpy")
    def tile(count, depth, a, lda, b, alpha, beta, c, ldc, height, width):
        if count == 1:
            narrow(depth, a, lda, b, alpha, beta, c, ldc, height, width)
        elif count == 2:
            middle(depth, a, lda, b, alpha, beta, c, ldc, height, width)
        else:
            wide(depth, a, lda, b, alpha, beta, c, ldc, height, width)

    @njit(error_model="numpy")
    def pack_b(b, b_row, b_col, nc, kc, panels):
        # The last panel is only as wide as the vectors that it needs.
        whole = nc - nc % columns
        pack(b, b_col, b_row, whole, kc, panels, columns)
        if whole < nc:
            width = _ceil(nc - whole, lanes) * lanes
            rest = pointer(panels, whole * kc)
            pack(pointer(b, whole * b_col), b_col, b_row, nc - whole, kc, rest, width)

    @njit(error_model="numpy")
    def tiles_of_block(mc, nc, kc, alpha, a, lda, b, beta, c, ldc):
        # A panel of b meets all panels of a before the next one comes.
        for col in range(0, nc, columns):
            width = min(columns, nc - col)
            for row in range(0, mc, rows):
                tile(
                    _ceil(width, lanes),
                    kc,
                    pointer(a, row * lda),
                    lda,
                    pointer(b, col * kc),
                    alpha,
                    beta,
                    pointer(c, row * ldc + col),
                    ldc,
                    min(rows, mc - row),
                    width,
                )

    @njit(error_model="numpy")
    def multiply(m, n, k, alpha, a, a_row, a_col, b, b_row, b_col, beta, c, ldc, workspace, size):
        mc, kc = _share(m, mc_most, rows), _share(k, kc_most, 1)
        size_a = mc * _ceil(kc, LINE) * LINE
        left = size // FLOAT_BYTES - size_a - 4 * LINE
        nc = _share(n, max(columns, min(nc_most, left // kc // columns * columns)), columns)
        # On the boundary of a line, because a vector that lies on two lines is two loads.
        packed_a = at_address(workspace + -workspace % (LINE * FLOAT_BYTES))
        packed_b = pointer(packed_a, size_a)
        for j in range(0, n, nc):
            for p in range(0, k, kc):
                depth, width = min(kc, k - p), min(nc, n - j)
                # c already holds the sum over the k before p.
                factor = beta if p == 0 else float32(1)
                pack_b(pointer(b, p * b_row + j * b_col), b_row, b_col, width, depth, packed_b)
                for i in range(0, m, mc):
                    height = min(mc, m - i)
                    block, lda = pointer(a, i * a_row + p * a_col), a_row
                    corner = pointer(c, i * ldc + j)
                    # Contiguous rows are read where they lie: a copy costs up to 3 % of the time.
                    if a_col != 1:
                        lda = _ceil(depth, LINE) * LINE
                        # One panel with the columns of a as its lines: rows become contiguous.
                        pack(block, a_col, a_row, depth, height, packed_a, lda)
                        block = packed_a
                    tiles_of_block(
                        height, width, depth, alpha, block, lda, packed_b, factor, corner, ldc
                    )

    return multiply


@njit(error_model="numpy")
def _ceil(count, size):
    """How many pieces of that size cover the count."""
    return (count + size - 1) // size


@njit(error_model="numpy")
def _share(total, most, multiple):
    """The size of equal blocks, none above `most`; a last block of a few lines would be slow."""
    return _ceil(_ceil(total, _ceil(total, most)), multiple) * multiple


@njit(error_model="numpy", forceinline=True)
def prefetch_row(c, i, width):
    """Ask for the lines of c[i : i + width] now; they are there when the sums are."""
    for col in range(0, width, LINE):
        prefetch(c, i + col)
    prefetch(c, i + width - 1)


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
