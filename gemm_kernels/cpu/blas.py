"""c = alpha·op(a)·op(b) + beta·c as in BLAS, on one thread, with the widest micro-kernel."""

from __future__ import annotations

import numbers
import operator
from functools import cache

import numpy as np
from numba import boolean, float32, njit, types
from numpy import empty, ndarray
from numpy.lib.stride_tricks import as_strided

from gemm_kernels.cpu.engine.blocks import FLOAT_BYTES, memory_of
from gemm_kernels.cpu.engine.matrices import Matrix
from gemm_kernels.cpu.engine.widest import multiplication
from utils.errors import ArgumentError, CourseError
from utils.intrinsics.simd import at_address
from utils.ladder.tasks import check_float32, product_sizes
from utils.machine.machine_code_cache import kept_on_disk

# `empty` and `ndarray` are imported by name, because a small product is called often and each
# lookup in NumPy's module costs time.
FLOAT32 = np.dtype(np.float32)
ONE, ZERO = 1.0, 0.0
# The arguments in the order of BLAS: error messages number them from 1, as LAPACK's XERBLA does.
POSITIONS = (
    *("transa", "transb", "m", "n", "k", "alpha"),
    *("a", "lda", "b", "ldb", "beta", "c", "ldc"),
)


def sgemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) -> None:
    """Compute c = alpha·op(a)·op(b) + beta·c in strict float32; matrices are column-major.

    `transa` and `transb` are "N" for op(x) = x, "T" or "C" for its transpose, in upper or lower
    case. op(a) is m×k, op(b) k×n and c m×n; each may be empty. `a`, `b` and `c` are contiguous
    float32 arrays of any shape, whose element (i, j) is number i + j * ld in memory. `lda`, `ldb`
    and `ldc` are at least the number of rows of the matrix as it is stored, and at least 1. c is
    changed in place; the memory between its columns is not changed. With beta = 0, c is not read;
    with alpha = 0 or k = 0, a and b are not read. Raises ArgumentError, which is a ValueError, for
    an argument that does not fit, with its position.
    """
    transpose_a, transpose_b = _letter("transa", transa), _letter("transb", transb)
    m, n, k = _size("m", m), _size("n", n), _size("k", k)
    alpha, beta = _factor("alpha", alpha), _factor("beta", beta)
    a = _matrix("a", a, (k, m) if transpose_a else (m, k), lda)
    b = _matrix("b", b, (n, k) if transpose_b else (k, n), ldb)
    c = _matrix("c", c, (m, n), ldc)
    if not c.flags.writeable:
        raise _refused("c", "is read-only, and the result is written there: give a copy.")
    for name, matrix in (("a", a), ("b", b)):
        if np.shares_memory(matrix, c):
            raise _refused("c", f"shares memory with {name}, which is still read: give a copy.")
    # The kernels are row-major, and c in column-major order is c transposed in row-major order:
    # op(b) transposed times op(a) transposed.
    compiled()(alpha, b if transpose_b else b.T, a if transpose_a else a.T, beta, c.T)


def matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a·b in strict float32 as a new array in C order, computed on one thread.

    `a` is float32, m×k; `b` is float32, k×n. Transposed and sliced arrays are copied only if
    neither their rows nor their columns are contiguous. Raises CourseError for arrays of another
    dtype, kind or shape. The first call on a machine compiles the multiplication, which takes some
    seconds; the machine code is cached on disk.
    """
    if type(a) is type(b) is ndarray and a.dtype is b.dtype is FLOAT32 and a.ndim == b.ndim == 2:
        c = empty((len(a), b.shape[1]), FLOAT32)
        if compiled()(ONE, a, b, ZERO, c):
            return c
    # These are arrays of another kind, or matrices that do not fit: the checks raise the reason.
    for name, matrix in (("a", a), ("b", b)):
        check_float32(name, matrix, ndim=2)
        _check_of_numpy(name, matrix)
    m, n, _ = product_sizes(a, b)
    c = np.empty((m, n), np.float32)
    compiled()(ONE, _readable(a), _readable(b), ZERO, c)
    return c


# Any layout, aligned or not, so that there is one compilation for all arrays. Numba reads the
# address and strides of an array in less than a microsecond, while Python needs ten.
READ = types.Array(float32, 2, "A", readonly=True, aligned=False)
WRITTEN = types.Array(float32, 2, "A", aligned=False)


@cache
def compiled():
    """Return the compiled function run(alpha, a, b, beta, c): c = alpha·a·b + beta·c.

    The rows of c must be contiguous. The function returns True if c holds the result. It returns
    False, and has done nothing, if a has another number of columns than b has rows, or if a and b
    must be read and neither rows nor columns of one of them are contiguous. It does not check the
    shape of c, nor that the arrays are 2-D float32, because it is the compiled function itself,
    without Numba's search for the version that fits the arguments.
    """
    multiply, memory = multiplication(), memory_of()

    @kept_on_disk
    @njit(error_model="numpy")
    def run(alpha, a, b, beta, c):
        if a.shape[1] != b.shape[0]:
            return False
        if c.size == 0:
            return True
        if a.size == 0 or alpha == 0:
            scale(beta, in_memory(c))
            return True
        if not (has_lines(a) and has_lines(b)):
            return False
        multiply(alpha, in_memory(a), in_memory(b), beta, in_memory(c), memory())
        return True

    signature = boolean(float32, READ, READ, float32, WRITTEN)
    run.compile(signature)
    return run.get_overload(signature)


@njit(forceinline=True)
def has_lines(x):
    """Return True if rows or columns of x are contiguous and its strides are multiples of 4 bytes.

    x: a float32 array of two dimensions.
    """
    row, col = x.strides
    whole = row % FLOAT_BYTES == 0 and col % FLOAT_BYTES == 0
    return whole and (row == FLOAT_BYTES or col == FLOAT_BYTES)


@njit(forceinline=True)
def in_memory(x):
    """Return a 2-D float32 array as a Matrix over the same memory.

    The caller keeps the array alive.
    """
    row, col = x.strides
    return Matrix(
        at_address(x.ctypes.data), x.shape[0], x.shape[1], row // FLOAT_BYTES, col // FLOAT_BYTES
    )


@njit
def scale(beta, c):
    """Multiply the Matrix c by beta in place; with beta = 0, set it to zero without reading it."""
    for row in range(c.height):
        for col in range(row * c.row, row * c.row + c.width):
            # NaN times 0 is NaN, and beta = 0 means that c is not initialised yet.
            c.at[col] = float32(0) if beta == 0 else beta * c.at[col]


def _readable(matrix: np.ndarray) -> np.ndarray:
    """Return the matrix if its rows or its columns are contiguous, or else a copy in C order."""
    return matrix if has_lines(matrix) else np.ascontiguousarray(matrix)


def _check_of_numpy(name: str, matrix) -> None:
    """Raise CourseError unless the matrix is an array of NumPy without a mask."""
    if not isinstance(matrix, np.ndarray) or isinstance(matrix, np.ma.MaskedArray):
        raise CourseError(
            f"{name} is a {type(matrix).__name__}, and an array of NumPy without a mask is needed: "
            f"use {name}.get() for one of CuPy, {name}.filled(0) for one with a mask."
        )


def _refused(name: str, reason: str) -> ArgumentError:
    """Return an ArgumentError that names an argument of `sgemm`, its position and the `reason`."""
    return ArgumentError(f"sgemm's argument {POSITIONS.index(name) + 1}, {name}, {reason}")


def _letter(name: str, value) -> bool:
    """Return True for "T" and "C", False for "N", in either case; raise ArgumentError otherwise.

    `name` is the name of the argument, for the message.
    """
    if isinstance(value, str) and value.upper() in ("N", "T", "C"):
        return value.upper() != "N"
    raise _refused(name, f"is {value!r}: give 'N', 'T' or 'C'.")


def _size(name: str, value) -> int:
    """Return the value as an int; raise ArgumentError unless it is a whole number of 0 or more.

    `name` is the name of the argument, for the message.
    """
    try:
        size = operator.index(value)
    except TypeError:
        raise _refused(name, f"is {value!r}, and a size is a whole number.") from None
    if size < 0:
        raise _refused(name, f"is {size}, and a size is 0 or more.")
    return size


def _factor(name: str, value) -> np.float32:
    """Return the value as a float32; raise ArgumentError unless it is a real number.

    `name` is the name of the argument, for the message.
    """
    if not isinstance(value, numbers.Real):
        raise _refused(name, f"is {value!r}, and a real number is needed.")
    return np.float32(value)


def _matrix(name: str, array, shape: tuple[int, int], ld) -> np.ndarray:
    """Return a column-major view of `shape`, with leading dimension `ld`, of an array's memory.

    `name` is "a", "b" or "c". Raises ArgumentError if `ld` is too small, or if the array is not a
    contiguous float32 array with enough elements.
    """
    rows, cols = shape
    ld = _size(f"ld{name}", ld)
    if ld < max(1, rows):
        raise _refused(
            f"ld{name}",
            f"is {ld}, and for columns of {rows} rows it must be at least {max(1, rows)}.",
        )
    if not isinstance(array, np.ndarray):
        raise _refused(name, f"is a {type(array).__name__}, and a NumPy array is needed.")
    if array.dtype != np.float32:
        raise _refused(
            name, f"holds {array.dtype}, and the s in sgemm is float32: use {name}.astype."
        )
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise _refused(name, "has gaps in memory: give a contiguous array and its ld.")
    needed = ld * (cols - 1) + rows if rows and cols else 0
    if array.size < needed:
        raise _refused(
            name, f"has {array.size} elements, and {rows}×{cols} with ld {ld} needs {needed}."
        )
    return as_strided(array, shape, (FLOAT_BYTES, ld * FLOAT_BYTES))
