"""Packing: copy the elements of a matrix into the order in which a micro-kernel reads them."""

from collections.abc import Callable

from numba import njit

from gemm_kernels.cpu.engine.matrices import Matrix, inlined, inner, part, row_of
from utils.intrinsics.simd import (
    join_lower,
    join_upper,
    loadu,
    loadu_masked,
    pointer,
    shuffle_lower,
    shuffle_upper,
    storeu,
    unpackhi,
    unpacklo,
)

LANES = 8


@njit
def pack_panels(x, panels):
    """Copy the columns of an array into panels: element (p, j) to panels[j // w, p, j % w].

    w is the width of a panel, the last axis of `panels`. Elements of panels beyond the edges of x
    are not changed.
    """
    height, width = x.shape
    for j in range(0, width, panels.shape[2]):
        panel = panels[j // panels.shape[2]]
        for p in range(height):
            for col in range(min(panels.shape[2], width - j)):
                panel[p, col] = x[p, j + col]


@inner
def pack_columns(x, out, ld):
    """Copy a Matrix with contiguous columns: element (i, j) to out[i * ld + j].

    `out` is a pointer. Up to LANES - 1 elements after the x.width elements of a row are written,
    too; if they belong to the next row, its own elements are written later.
    """
    whole = x.height - x.height % LANES
    for j in range(0, x.width, LANES):
        for i in range(0, whole, LANES):
            _transpose_8x8(part(x, i, j, LANES, LANES), pointer(out, i * ld + j), ld)
        for i in range(whole, x.height):
            for col in range(j, min(j + LANES, x.width)):
                out[i * ld + col] = x.at[i + col * x.col]


def rows_packer(lanes: int) -> Callable:
    """Return a compiled function (x, out, width) that copies a Matrix x to the pointer `out`.

    Element (i, j) goes to out[i * width + j]. `width` is that of x, rounded up to whole vectors of
    `lanes`. The padding is written, too.
    """

    @inner
    def pack(x, out, width):
        if x.col != 1:
            pack_columns(x, out, width)
            return
        for i in range(x.height):
            row, to = pointer(x.at, i * x.row), pointer(out, i * width)
            whole = x.width - x.width % lanes
            for j in range(0, whole, lanes):
                storeu(to, j, loadu(row, j, lanes))
            if whole < x.width:
                storeu(to, whole, loadu_masked(row, whole, lanes, x.width - whole))

    return pack


def group_packer(rows: int) -> Callable:
    """Return a compiled function (x, out) that copies a Matrix in groups of `rows` rows, 4 or 8.

    Element (i, p) of the group that begins with row ir goes to out[ir * x.width + p * rows + i],
    with a pointer `out`. A group with too few rows is filled up with the last row.
    """
    transpose, copy = {4: (_transpose_4x8, _copy_4), 8: (_transpose_rows_8x8, _copy_8)}[rows]

    @inner
    def pack(x, out):
        for ir in range(0, x.height, rows):
            group, to = part(x, ir, 0, rows, x.width), pointer(out, ir * x.width)
            done = 0
            if x.col == 1:
                done = x.width - x.width % LANES
                for p in range(0, done, LANES):
                    transpose(part(group, 0, p, rows, LANES), pointer(to, p * rows))
            elif group.height == rows:
                done = x.width
                for p in range(done):
                    copy(pointer(group.at, p * x.col), pointer(to, p * rows))
            for p in range(done, x.width):
                for i in range(rows):
                    to[p * rows + i] = row_of(group, i)[p * x.col]

    return pack


@inner
def _transpose_8x8(x, out, ld):
    """Write 8 rows of up to 8 contiguous columns of the Matrix x to the pointer `out`, row by row.

    Element (i, j) goes to out[i * ld + j]. Missing columns repeat the last one.
    """
    # Columns are loaded as the rows of the transpose; missing ones repeat the last.
    lines = Matrix(x.at, x.width, x.height, x.col, x.row)
    (b0, b1, b2, b3), (b4, b5, b6, b7) = _fours(lines, 0), _fours(lines, 4)
    # The lower halves belong to rows 0 to 3, the upper ones to rows 4 to 7.
    storeu(out, 0, join_lower(b0, b4))
    storeu(out, ld, join_lower(b1, b5))
    storeu(out, 2 * ld, join_lower(b2, b6))
    storeu(out, 3 * ld, join_lower(b3, b7))
    storeu(out, 4 * ld, join_upper(b0, b4))
    storeu(out, 5 * ld, join_upper(b1, b5))
    storeu(out, 6 * ld, join_upper(b2, b6))
    storeu(out, 7 * ld, join_upper(b3, b7))


@inner
def _transpose_rows_8x8(x, out):
    """Write up to 8 contiguous rows of 8 elements of the Matrix x to the pointer `out`, by columns.

    Each column has 8 elements; missing rows repeat the last one.
    """
    _transpose_8x8(Matrix(x.at, LANES, x.height, x.col, x.row), out, LANES)


@inner
def _transpose_4x8(x, out):
    """Write up to 4 contiguous rows of 8 elements of the Matrix x to the pointer `out`, by columns.

    Each column has 4 elements; missing rows repeat the last one.
    """
    b0, b1, b2, b3 = _fours(x, 0)
    storeu(out, 0, join_lower(b0, b1))
    storeu(out, LANES, join_lower(b2, b3))
    storeu(out, 2 * LANES, join_upper(b0, b1))
    storeu(out, 3 * LANES, join_upper(b2, b3))


@inlined
def _copy_4(x, out):
    """Copy 4 float32 from the pointer x to the pointer `out`."""
    # All elements are loaded before one is stored, so that the compiler may combine the accesses.
    x0, x1, x2, x3 = x[0], x[1], x[2], x[3]
    out[0], out[1], out[2], out[3] = x0, x1, x2, x3


@inlined
def _copy_8(x, out):
    """Copy 8 float32 from the pointer x to the pointer `out`."""
    storeu(out, 0, loadu(x, 0, LANES))


@inlined
def _fours(x, first):
    """Return 4 vectors of 8: columns 0 and 4, 1 and 5, 2 and 6, 3 and 7 of 4 rows of the Matrix x.

    The rows begin with row `first`.
    """
    x0, x1 = loadu(row_of(x, first), 0, LANES), loadu(row_of(x, first + 1), 0, LANES)
    x2, x3 = loadu(row_of(x, first + 2), 0, LANES), loadu(row_of(x, first + 3), 0, LANES)
    a0, a1, a2, a3 = unpacklo(x0, x1), unpackhi(x0, x1), unpacklo(x2, x3), unpackhi(x2, x3)
    b0, b1 = shuffle_lower(a0, a2), shuffle_upper(a0, a2)
    b2, b3 = shuffle_lower(a1, a3), shuffle_upper(a1, a3)
    return b0, b1, b2, b3
