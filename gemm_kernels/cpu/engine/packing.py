"""Panels of a matrix: what a micro-kernel reads lies in the order in which it is read."""

from numba import njit

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


@njit(error_model="numpy")
def pack(x, across, along, lines, depth, out, width):
    """Copy lines of x into panels: panel[p * width + line] for `width` lines and every p.

    x, out: pointers to float32. Element p of a line is x[line * across + p * along], and one of the
    strides is 1. Panel number i starts at out[i * width * depth]. The last panel is filled up with
    anything, and elements behind it are written, too, fewer than LANES.
    """
    if across == 1:
        # A few p at a time through all panels: x is then read in long pieces, which the hardware
        # fetches ahead. Panel by panel it would be read in pieces of `width`.
        for p in range(0, depth, LANES):
            rows = min(LANES, depth - p)
            for first in range(0, lines, width):
                panel = pointer(out, first * depth + p * width)
                _copy(pointer(x, first + p * along), along, lines - first, rows, panel, width)
    else:
        for first in range(0, lines, width):
            panel = pointer(out, first * depth)
            _transpose(pointer(x, first * across), across, lines - first, depth, panel, width)


@njit(error_model="numpy")
def _copy(x, along, lines, depth, panel, width):
    count = min(width, lines)
    whole = count - count % LANES
    for p in range(depth):
        for line in range(0, whole, LANES):
            storeu(panel, p * width + line, loadu(x, p * along + line, LANES))
        if whole < count:
            # What is stored behind the panel's lines belongs to the next p, which comes later.
            rest = loadu_masked(x, p * along + whole, LANES, count - whole)
            storeu(panel, p * width + whole, rest)


@njit(error_model="numpy")
def _transpose(x, across, lines, depth, panel, width):
    count = min(width, lines)
    whole = depth - depth % LANES
    for line in range(0, count, LANES):
        for p in range(0, whole, LANES):
            lines = pointer(x, line * across + p)
            _transpose_8x8(lines, across, count - line, pointer(panel, p * width + line), width)
        for p in range(whole, depth):
            for i in range(line, min(line + LANES, count)):
                panel[p * width + i] = x[i * across + p]


@njit(error_model="numpy")
def _transpose_8x8(x, across, count, panel, width):
    # Lines that the panel has too many repeat the last one: their results are never stored.
    last = count - 1
    x0, x1 = loadu(x, 0, LANES), loadu(x, min(1, last) * across, LANES)
    x2, x3 = loadu(x, min(2, last) * across, LANES), loadu(x, min(3, last) * across, LANES)
    x4, x5 = loadu(x, min(4, last) * across, LANES), loadu(x, min(5, last) * across, LANES)
    x6, x7 = loadu(x, min(6, last) * across, LANES), loadu(x, min(7, last) * across, LANES)
    # Pairs of lines, then fours: every block of four lanes holds four lines at one p.
    a0, a1, a2, a3 = unpacklo(x0, x1), unpackhi(x0, x1), unpacklo(x2, x3), unpackhi(x2, x3)
    a4, a5, a6, a7 = unpacklo(x4, x5), unpackhi(x4, x5), unpacklo(x6, x7), unpackhi(x6, x7)
    b0, b1 = shuffle_lower(a0, a2), shuffle_upper(a0, a2)
    b2, b3 = shuffle_lower(a1, a3), shuffle_upper(a1, a3)
    b4, b5 = shuffle_lower(a4, a6), shuffle_upper(a4, a6)
    b6, b7 = shuffle_lower(a5, a7), shuffle_upper(a5, a7)
    # The lower halves belong to p = 0 to 3, the upper ones to p = 4 to 7.
    storeu(panel, 0, join_lower(b0, b4))
    storeu(panel, width, join_lower(b1, b5))
    storeu(panel, 2 * width, join_lower(b2, b6))
    storeu(panel, 3 * width, join_lower(b3, b7))
    storeu(panel, 4 * width, join_upper(b0, b4))
    storeu(panel, 5 * width, join_upper(b1, b5))
    storeu(panel, 6 * width, join_upper(b2, b6))
    storeu(panel, 7 * width, join_upper(b3, b7))
