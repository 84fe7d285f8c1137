"""The division of c among threads: one rectangle per thread."""

from numba import njit

from gemm_kernels.cpu.engine.matrices import ceil_div

# The sides of a rectangle are multiples of this, and so of a vector and of the rows of a tile.
GRAIN = 16


@njit
def rectangles(m, n, threads):
    """Return (across, height, width) of equal rectangles that cover m × n, one per thread.

    `across` of them are side by side. Some may be outside of m × n. Their sides are multiples of
    GRAIN, and as equal as possible, because each thread packs a part of b as wide as its rectangle.
    """
    across = 1
    for more in range(1, threads + 1):
        # If two sums are equal, more columns win: rectangles side by side share no part of b.
        if threads % more == 0 and _sides(m, n, threads, more) <= _sides(m, n, threads, across):
            across = more
    return across, _side(m, threads // across), _side(n, across)


@njit
def _sides(m, n, threads, across):
    """Return height + width of a rectangle if `across` of the rectangles are side by side.

    All `threads` rectangles together cover m × n. The quotients are rounded down.
    """
    return m * across // threads + n // across


@njit
def _side(length, pieces):
    """Return length / pieces, rounded up to a multiple of GRAIN."""
    return ceil_div(ceil_div(length, pieces), GRAIN) * GRAIN
