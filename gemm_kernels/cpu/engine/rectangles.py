"""How c is shared out among threads: one rectangle for each."""

from numba import njit

from gemm_kernels.cpu.engine.matrices import ceil_div

# Sides of a rectangle are multiples of a vector, and of the rows of a tile.
GRAIN = 16


@njit
def rectangles(m, n, threads):
    """How many rectangles lie side by side, and the height and the width of each.

    They cover m × n; some may lie outside. Their sides are as equal as can be, for each thread
    packs a part of b as wide as its rectangle.
    """
    across = 1
    for more in range(1, threads + 1):
        # Of equal sums the one with more columns: rectangles side by side share no part of b.
        if threads % more == 0 and _sides(m, n, threads, more) <= _sides(m, n, threads, across):
            across = more
    return across, _side(m, threads // across), _side(n, across)


@njit
def _sides(m, n, threads, across):
    return m * across // threads + n // across


@njit
def _side(length, pieces):
    return ceil_div(ceil_div(length, pieces), GRAIN) * GRAIN
