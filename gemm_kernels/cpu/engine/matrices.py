"""Matrices as compiled functions pass them on: tuples of numbers, which live in registers."""

from typing import NamedTuple

from numba import intp, njit

from utils.intrinsics.simd import pointer

# Decorators of functions that only compiled functions call: they need none of the wrappers by which
# Python would call them, and these take longer to compile than many of the functions.
inner = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
inlined = njit(
    error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True
)


class Matrix(NamedTuple):
    """height × width float32: element (i, j) is at[i * row + j * col], with a pointer `at`.

    One of the strides is 1. The functions of Python write the address as an integer.
    """

    at: int
    height: int
    width: int
    row: int
    col: int


@inner
def matrix(x):
    """A float32 array in C order as a Matrix; the caller keeps the array alive."""
    height, width = x.shape
    return Matrix(pointer(x.ravel(), 0), height, width, width, intp(1))


@inlined
def part(x, i, j, height, width):
    """What x has of height × width elements from (i, j) on: fewer where x ends."""
    at = pointer(x.at, i * x.row + j * x.col)
    return Matrix(at, min(height, x.height - i), min(width, x.width - j), x.row, x.col)


@inlined
def rows_of(x, i, height):
    """What x has of so many whole rows from row i on."""
    return part(x, i, 0, height, x.width)


class Groups(NamedTuple):
    """height × width float32 in groups of as many rows as a tile has.

    Element (i, p) of the group that begins with row ir is at[ir * group + i * row + p * col].
    A last group that lacks rows is filled up, and its element (i, p) is last[i + p * rows].
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
    """The group that begins with row ir, as a Matrix of so many rows."""
    if ir + rows > x.height:
        return Matrix(x.last, rows, x.width, intp(1), intp(rows))
    return Matrix(pointer(x.at, ir * x.group), rows, x.width, x.row, x.col)


@inlined
def row_of(x, i):
    """Where row i begins. Behind the last row it is the last one again.

    So a micro-kernel always has as many rows as it has sums for, and none outside the matrix. The
    results of repeated rows are never stored.
    """
    return pointer(x.at, min(i, x.height - 1) * x.row)


@inlined
def ceil_div(count, size):
    """How many pieces of that size cover the count."""
    return (count + size - 1) // size
