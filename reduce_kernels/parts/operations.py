"""The operations of reductions: how two values are combined, and the result of no elements."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numba import cuda, float32, float64, int32, int64, types

from utils.errors import CourseError
from utils.ladder.tasks import converted


@dataclass(frozen=True)
class Operation:
    """A reduction of elements of one type.

    combine: a device function of two values, associative up to rounding. identity: the value that
    changes no other value when both are combined, of the type `total`. element: the Numba type of
    the elements. total: the Numba type of the result. name: such as "sum".
    """

    name: str
    combine: cuda.dispatcher.CUDADispatcher
    identity: np.generic
    element: types.Number
    total: types.Number


@cuda.jit(device=True)
def _add(a, b):
    """Return a + b."""
    return a + b


@cuda.jit(device=True)
def _multiply(a, b):
    """Return a · b."""
    return a * b


# NaN is the only value that differs from itself. It must win as either operand, although every
# comparison with it is false.
@cuda.jit(device=True)
def _larger(a, b):
    """Return the larger value, or NaN if one of them is NaN."""
    return a if a > b or a != a else b


@cuda.jit(device=True)
def _smaller(a, b):
    """Return the smaller value, or NaN if one of them is NaN."""
    return a if a < b or a != a else b


_ELEMENTS = {np.dtype(str(kind)): kind for kind in (float32, float64, int32, int64)}
_COMBINE = {"sum": _add, "prod": _multiply, "max": _larger, "min": _smaller}


def check_name(name) -> None:
    """Raise CourseError unless `name` is "sum", "prod", "max" or "min"."""
    if not (isinstance(name, str) and name in _COMBINE):
        raise CourseError(f"There is no reduction {name!r}: choose one of {', '.join(_COMBINE)}.")


def operation(name: str, dtype: np.dtype, library: str = "") -> Operation:
    """Return the reduction "sum", "prod", "max" or "min" for elements of a dtype.

    Sums and products of int32 are int64, as in NumPy; all others keep the dtype. Raises CourseError
    for another name or a dtype other than float32, float64, int32 and int64. `library` is the name
    of the array's library, which the error message uses.
    """
    check_name(name)
    if dtype not in _ELEMENTS:
        raise CourseError(
            f"x holds {dtype}, and a reduction takes {', '.join(map(str, _ELEMENTS))}: use for "
            f"example {converted('x', 'float32', library)}."
        )
    return _operation(name, dtype)


@cache
def _operation(name: str, dtype: np.dtype) -> Operation:
    """Return the operation of this name for a dtype; both must be known. Results are cached."""
    element = _ELEMENTS[dtype]
    widened = name in ("sum", "prod") and element == int32
    total = int64 if widened else element
    return Operation(name, _COMBINE[name], _identity(name, total), element, total)


def _identity(name: str, total: types.Number) -> np.generic:
    """Return the value that changes no other value when both are combined, of the type `total`.

    It is a NumPy scalar: 0 for "sum", 1 for "prod", and for "max" and "min" the smallest and the
    largest value of the type, which is an infinity for floats.
    """
    of_type = np.dtype(str(total)).type
    if name in ("sum", "prod"):
        return of_type(name == "prod")
    if isinstance(total, types.Float):
        return of_type(-np.inf if name == "max" else np.inf)
    limits = np.iinfo(of_type)
    return of_type(limits.min if name == "max" else limits.max)


SUM_OF_FLOAT32 = operation("sum", np.dtype(np.float32))
