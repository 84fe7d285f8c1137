"""Matrices for compiled functions: tuples of numbers, which stay in registers."""

from typing import NamedTuple

from numba import intp, njit

from utils.intrinsics.simd import pointer

# Decorators for functions that only compiled functions call. They omit the wrappers by which Python
# would call them, because these take longer to compile than many of the functions.
inner = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
inlined = njit(
    error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True
)


class Matrix(NamedTuple):
    """A matrix of height × width float32; element (i, j) is at[i * row + j * col].

    at: a pointer to the first element; Python functions represent it as an integer.
    row, col: the strides in elements, one of which is 1.
    """

    at: int
    height: int
    width: int
    row: int
    col: int


@inner
def matrix(x):
    """Return a float32 array in C order as a Matrix; the caller keeps the array alive."""
    height, width = x.shape
    return Matrix(pointer(x.ravel(), 0), height, width, width, intp(1))


@inlined
def part(x, i, j, height, width):
    """Return the part of a Matrix x from element (i, j) on, as a Matrix over the same memory.

    It has height × width elements, or fewer where x ends.
    """
    at = pointer(x.at, i * x.row + j * x.col)
    return Matrix(at, min(height, x.height - i), min(width, x.width - j), x.row, x.col)


@inlined
def rows_of(x, i, height):
    """Return `height` rows of the Matrix x from row i on, or fewer where x ends, as a Matrix."""
    return part(x, i, 0, height, x.width)


class Groups(NamedTuple):
    """A matrix of height × width float32, in groups of as many rows as a tile has.

    Element (i, p) of the group that begins with row ir is at[ir * group + i * row + p * col], with
    a pointer `at`. A last group with too few rows is filled up, and its element (i, p) is last[i +
    p * rows], where `rows` is the number of rows of a tile.
    """

    at: int
    height: int
    width: int
    group: int
    row: int
    col: int
    last: int


@inlined
def group_of(x, ir, rows):
    """Return the group of the Groups x that begins with row ir, as a Matrix of `rows` rows."""
    if ir + rows > x.height:
        return Matrix(x.last, rows, x.width, intp(1), intp(rows))
    return Matrix(pointer(x.at, ir * x.group), rows, x.width, x.row, x.col)


@inlined
def row_of(x, i):
    """Return a pointer to row i of the Matrix x, or to its last row if i is past the end.

    So a micro-kernel always has as many rows as it has sums for, and none outside the matrix. The
    results of repeated rows are never stored.
    """
    return pointer(x.at, min(i, x.height - 1) * x.row)


@inlined
def ceil_div(count, size):
    """Return count / size rounded up: the number of pieces of that size that cover the count."""
    return (count + size - 1) // size
