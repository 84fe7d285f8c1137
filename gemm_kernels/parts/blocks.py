"""Parts of the register-blocked steps: access at the edges, the outer product, double buffers.

A quad is four adjacent elements of a row, which one 128-bit access loads or stores. All functions
are inlined into the kernel that calls them. Local arrays stay in registers.
"""

from functools import cache

from numba import cuda, float32, uint32

from utils.division import cdiv
from utils.errors import CourseError
from utils.intrinsics.wide_memory import load4, store4
from utils.ladder.shapes import GemmShape

WIDE = 4  # float32 per 128-bit access


def check_wide(step, shape):
    """Raise CourseError unless rows of a, b and c begin at multiples of 16 bytes.

    For that, k and n of the shape must be multiples of 4; m may be any number. `step` is the name
    of the step, for the message.
    """
    if shape.k % WIDE or shape.n % WIDE:
        fits = GemmShape(shape.m, _multiple(shape.n), _multiple(shape.k))
        raise CourseError(
            f"{step} reads and writes 128 bits at once, so n and k must be multiples of 4, and the "
            f"shape is {shape}: pad the matrices with zeros to {fits}, or use register_blocked."
        )


def _multiple(size):
    """Return the size rounded up to a multiple of 4."""
    return cdiv(size, WIDE) * WIDE


@cuda.jit(device=True, forceinline=True)
def element(x, row, col):
    """Return x[row, col], or float32 zero if row or col is past x, which adds nothing to a sum."""
    return x[row, col] if row < x.shape[0] and col < x.shape[1] else float32(0)


@cuda.jit(device=True, forceinline=True)
def quad(x, row, col):
    """Return x[row, col : col + 4] as a tuple by one 128-bit load, or zeros outside of x.

    col and the length of a row are multiples of 4: the four elements are all inside or all outside.
    """
    if row < uint32(x.shape[0]) and col < uint32(x.shape[1]):
        return load4(x, (row, col))
    return float32(0), float32(0), float32(0), float32(0)


@cuda.jit(device=True, forceinline=True)
def quad_place(number, across):
    """Return (row, column) of the first element of quad `number` in a tile.

    `across` is the number of quads in a row of the tile.
    """
    return number // across, number % across * 4


@cuda.jit(device=True, forceinline=True)
def store_quad(x, row, col, values):
    """Store x[row, col : col + 4] = values by one 128-bit store, or nothing outside of x.

    `values` is a tuple of four. col and the length of a row are multiples of 4: the four elements
    are all inside or all outside.
    """
    if row < uint32(x.shape[0]) and col < uint32(x.shape[1]):
        store4(x, (row, col), values)


@cache
def outer_product(TM, TN):
    """Return a device function (sums, x, y): sums[i, j] += x[i]·y[j] for i < TM, j < TN."""

    @cuda.jit(device=True, forceinline=True)
    def add(sums, x, y):
        for i in range(TM):
            for j in range(TN):
                sums[i, j] += x[i] * y[j]

    return add


@cuda.jit(device=True, forceinline=True)
def clear(sums):
    """Set all sums to zero."""
    for i in range(sums.shape[0]):
        for j in range(sums.shape[1]):
            sums[i, j] = float32(0)


@cuda.jit(device=True, forceinline=True)
def fetch(x, corner, across, workers, staged):
    """Start to load a thread's quads of a tile of x into the registers `staged`.

    `corner` is the (row, col) of the tile in x, and `across` the number of quads in a row of the
    tile. `workers` is (this thread's number, the number of threads); neighbours take neighbouring
    quads. `staged` is a local array, quads × 4. Quads outside x become zeros.
    """
    for load in range(len(staged)):
        q = uint32(workers[0] + load * workers[1])
        row, col = uint32(corner[0] + q // across), uint32(corner[1] + q % across * 4)
        four = quad(x, row, col)
        staged[load, 0], staged[load, 1], staged[load, 2], staged[load, 3] = four


@cuda.jit(device=True, forceinline=True)
def put_rows(shared, side, across, workers, staged):
    """Store the quads that fetch() has loaded into shared[side, row, col].

    `side` is the buffer, 0 or 1, and row and col count from the tile's corner. `across`, `workers`
    and `staged` are those of the call of fetch().
    """
    for load in range(len(staged)):
        q = uint32(workers[0] + load * workers[1])
        four = staged[load, 0], staged[load, 1], staged[load, 2], staged[load, 3]
        store4(shared, (side, q // across, q % across * 4), four)


@cuda.jit(device=True, forceinline=True)
def put_columns(shared, side, across, workers, staged):
    """Store the quads that fetch() has loaded, transposed, into shared[side, col, row].

    `side` is the buffer, 0 or 1, and row and col count from the tile's corner. `across`, `workers`
    and `staged` are those of the call of fetch().
    """
    for load in range(len(staged)):
        q = uint32(workers[0] + load * workers[1])
        for j in range(4):
            shared[side, q % across * 4 + j, q // across] = staged[load, j]


@cuda.jit(device=True, forceinline=True)
def read_fragment(shared, at, first, apart, fragment):
    """Fill `fragment` with one step of k from shared memory: quads at first, first + apart, ...

    `at` is (buffer, step of k), `fragment` a local array.
    """
    for i in range(0, len(fragment), 4):
        four = load4(shared, (at[0], at[1], first + i // 4 * apart))
        fragment[i], fragment[i + 1], fragment[i + 2], fragment[i + 3] = four


@cuda.jit(device=True, forceinline=True)
def store_tile(x, corner, apart, sums):
    """Store a thread's sums into x in patches of 4×4, the first with its corner at `corner`.

    `corner` is (row, col). `apart` is the stride from one patch of the thread to the next, (down,
    across), in elements. No element outside x is stored.
    """
    for i in range(sums.shape[0]):
        row = corner[0] + i // 4 * apart[0] + i % 4
        for j in range(0, sums.shape[1], 4):
            four = sums[i, j], sums[i, j + 1], sums[i, j + 2], sums[i, j + 3]
            store_quad(x, row, corner[1] + j // 4 * apart[1], four)
