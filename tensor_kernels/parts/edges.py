"""Access to matrices at their edges: what is outside reads as zero and is not stored.

All functions are inlined into the kernel that calls them.
"""

from numba import cuda, float32, uint32
from numba.types import float16

from utils.division import cdiv
from utils.errors import CourseError
from utils.intrinsics.tensor import WIDTH, load8, store8
from utils.intrinsics.wide_memory import store2
from utils.ladder.shapes import GemmShape


def check_wide(step, shape):
    """Raise CourseError unless rows of a and b begin at multiples of 16 bytes.

    For that, k and n of the shape must be multiples of 8; m may be any number. `step` is the name
    of the step, for the message.
    """
    if shape.k % WIDTH or shape.n % WIDTH:
        fits = GemmShape(shape.m, _multiple(shape.n), _multiple(shape.k))
        raise CourseError(
            f"{step} reads eight elements of 16 bits at once, so n and k must be multiples of 8, "
            f"and the shape is {shape}: pad the matrices with zeros to {fits}, or use mma_naive."
        )


def _multiple(size):
    """Return the size rounded up to a multiple of 8."""
    return cdiv(size, WIDTH) * WIDTH


@cuda.jit(device=True, forceinline=True)
def element(x, row, col):
    """Return x[row, col] of a float16 matrix x, or a float16 zero outside of x."""
    return x[row, col] if row < x.shape[0] and col < x.shape[1] else float16(0.0)


@cuda.jit(device=True, forceinline=True)
def copy_chunk(x, row, col, tile, to):
    """Copy x[row, col : col + 8] to 8 places of the tile in shared memory; zeros outside of x.

    `to` is the index of the first of these places in `tile`, a tuple. col and the length of a row
    are multiples of 8: the elements are all inside or all outside.
    """
    row, col = uint32(row), uint32(col)
    if row < uint32(x.shape[0]) and col < uint32(x.shape[1]):
        store8(tile, to, load8(x, (row, col)))
    else:
        store_zeros(tile, to)


@cuda.jit(device=True, forceinline=True)
def store_zeros(tile, to):
    """Store eight float16 zeros in `tile`, beginning at its index `to`, a tuple."""
    zero = float16(0.0)
    store8(tile, to, (zero, zero, zero, zero, zero, zero, zero, zero))


@cuda.jit(device=True, forceinline=True)
def store_pair(x, row, col, first, second):
    """Store two float32 at x[row, col] and x[row, col + 1] at once, or nothing outside of x.

    col and the length of a row are even: the two elements are both inside or both outside.
    """
    if row < uint32(x.shape[0]) and col < uint32(x.shape[1]):
        store2(x, (row, col), (float32(first), float32(second)))
