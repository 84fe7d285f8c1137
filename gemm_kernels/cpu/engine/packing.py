"""Packing: what a micro-kernel reads one after another is copied one behind another."""

from numba import njit

from gemm_kernels.cpu.engine.matrices import Matrix, inner, part, row_of
from utils.intrinsics.simd import (
    join_lower,
    join_upper,
    loadu,
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

    w is the width of a panel, the last axis of `panels`; what x does not have stays as it is.
    """
    height, width = x.shape
    for j in range(0, width, panels.shape[2]):
        panel = panels[j // panels.shape[2]]
        for p in range(height):
            for col in range(min(panels.shape[2], width - j)):
                panel[p, col] = x[p, j + col]


@inner
def pack_columns(x, out, ld):
    """Copy a Matrix with contiguous columns (row = 1): element (i, j) to out[i * ld + j].

    out: a pointer. Fewer than LANES elements behind the x.width of a row are written, too; where
    they belong to the next row, its own elements come later.
    """
    whole = x.height - x.height % LANES
    for j in range(0, x.width, LANES):
        for i in range(0, whole, LANES):
            _transpose_8x8(part(x, i, j, LANES, LANES), pointer(out, i * ld + j), ld)
        for i in range(whole, x.height):
            for col in range(j, min(j + LANES, x.width)):
                out[i * ld + col] = x.at[i + col * x.col]


@inner
def _transpose_8x8(x, out, ld):
    """8 rows and up to 8 columns of a Matrix with contiguous columns."""
    # Columns are loaded as the rows of the transpose; missing ones repeat the last.
    lines = Matrix(x.at, x.width, x.height, x.col, x.row)
    x0, x1 = loadu(row_of(lines, 0), 0, LANES), loadu(row_of(lines, 1), 0, LANES)
    x2, x3 = loadu(row_of(lines, 2), 0, LANES), loadu(row_of(lines, 3), 0, LANES)
    x4, x5 = loadu(row_of(lines, 4), 0, LANES), loadu(row_of(lines, 5), 0, LANES)
    x6, x7 = loadu(row_of(lines, 6), 0, LANES), loadu(row_of(lines, 7), 0, LANES)
    # Pairs of columns, then fours: every block of four lanes holds four columns of one row.
    a0, a1, a2, a3 = unpacklo(x0, x1), unpackhi(x0, x1), unpacklo(x2, x3), unpackhi(x2, x3)
    a4, a5, a6, a7 = unpacklo(x4, x5), unpackhi(x4, x5), unpacklo(x6, x7), unpackhi(x6, x7)
    b0, b1 = shuffle_lower(a0, a2), shuffle_upper(a0, a2)
    b2, b3 = shuffle_lower(a1, a3), shuffle_upper(a1, a3)
    b4, b5 = shuffle_lower(a4, a6), shuffle_upper(a4, a6)
    b6, b7 = shuffle_lower(a5, a7), shuffle_upper(a5, a7)
    # The lower halves belong to rows 0 to 3, the upper ones to rows 4 to 7.
    storeu(out, 0, join_lower(b0, b4))
    storeu(out, ld, join_lower(b1, b5))
    storeu(out, 2 * ld, join_lower(b2, b6))
    storeu(out, 3 * ld, join_lower(b3, b7))
    storeu(out, 4 * ld, join_upper(b0, b4))
    storeu(out, 5 * ld, join_upper(b1, b5))
    storeu(out, 6 * ld, join_upper(b2, b6))
    storeu(out, 7 * ld, join_upper(b3, b7))
