"""The operators and functions of a kernel as NumPy operations on lanes."""

from __future__ import annotations

import ast
import cmath
import functools
import math
import operator
from collections.abc import Callable

import numpy as np

from ..types import numba_types, overloads
from . import complex_math, edge_cases, library_math
from .elementwise import elementwise, gamma, log_gamma

BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
COMPARE = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
MEMBERSHIP = (ast.In, ast.NotIn)


def _round(value, digits=None):
    """Return ``round(value, digits)`` as Numba computes it, halves to the even number.

    With ``digits`` the result is a float64: Numba scales by a power of ten in float64, and rounds
    to a 64-bit integer. NaN, an infinity and a number that overflows when it is scaled keep their
    value. Without ``digits``, the result is a whole number in the dtype of ``value``.
    """
    if digits is None:
        return np.rint(value)
    x, above = value.astype(np.float64), digits > 22
    scale = np.power(10.0, np.where(above, digits - 22, abs(digits)))
    rest = np.where(above, 1e22, 1.0)  # Numba splits a power that may be too large
    scaled = np.where(digits < 0, x / scale, (x * scale) * rest)
    whole = _nearest_integer(scaled)
    halfway = abs(scaled - whole) == 0.5
    whole = np.where(halfway, 2.0 * _nearest_integer(scaled / 2.0), whole)
    result = np.where(digits < 0, whole * scale, (whole / rest) / scale)
    too_large = (digits >= 0) & np.isinf(scaled)
    return np.where(too_large | ~np.isfinite(x), x, result)[()]


def _nearest_integer(value):
    """Return the nearest integer as float64, limited to the range of int64."""
    return numba_types.cast(np.rint(value), np.dtype(np.int64)).astype(np.float64)


# NumPy functions that numba-cuda compiles in kernels; it refuses the others.
UFUNCS = frozenset({
    np.arccos, np.arccosh, np.arcsin, np.arcsinh, np.arctan, np.arctan2, np.arctanh,
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.conjugate, np.cos, np.cosh, np.deg2rad,
    np.degrees, np.divide, np.equal, np.fmax, np.fmin, np.greater, np.greater_equal, np.hypot,
    np.invert, np.isnan, np.left_shift, np.less, np.less_equal, np.log, np.log10, np.log2,
    np.logical_and, np.logical_not, np.logical_or, np.logical_xor, np.maximum, np.minimum,
    np.not_equal, np.rad2deg, np.radians, np.right_shift, np.sin, np.sinh, np.tan, np.tanh,
})  # fmt: skip

# The implementation of each operation, for operands that are cast as Numba's rule says.
COMPUTE: dict[Callable, Callable] = {
    operator.add: operator.add,
    operator.sub: operator.sub,
    operator.mul: operator.mul,
    operator.truediv: np.divide,
    operator.floordiv: edge_cases.floor_divide,
    operator.mod: edge_cases.remainder,
    operator.pow: edge_cases.power,
    operator.lshift: edge_cases.left_shift,
    operator.rshift: edge_cases.right_shift,
    operator.and_: np.bitwise_and,
    operator.or_: np.bitwise_or,
    operator.xor: np.bitwise_xor,
    operator.neg: np.negative,
    operator.pos: np.positive,
    operator.invert: np.invert,
    operator.eq: operator.eq,
    operator.ne: operator.ne,
    operator.lt: operator.lt,
    operator.le: operator.le,
    operator.gt: operator.gt,
    operator.ge: operator.ge,
    min: np.fmin,
    max: np.fmax,
    abs: np.abs,
    round: _round,
    pow: edge_cases.power,
    math.pow: np.power,
    math.fabs: np.fabs,
    math.sqrt: np.sqrt,
    math.exp: np.exp,
    math.expm1: np.expm1,
    math.log: np.log,
    math.log2: np.log2,
    math.log10: np.log10,
    math.log1p: np.log1p,
    math.sin: np.sin,
    math.cos: np.cos,
    math.tan: np.tan,
    math.asin: np.arcsin,
    math.acos: np.arccos,
    math.atan: np.arctan,
    math.atan2: np.arctan2,
    math.sinh: np.sinh,
    math.cosh: np.cosh,
    math.tanh: np.tanh,
    math.asinh: np.arcsinh,
    math.acosh: np.arccosh,
    math.atanh: np.arctanh,
    math.floor: np.floor,
    math.ceil: np.ceil,
    math.trunc: np.trunc,
    math.fmod: np.fmod,
    math.hypot: np.hypot,
    math.copysign: np.copysign,
    math.isnan: np.isnan,
    math.isinf: np.isinf,
    math.isfinite: np.isfinite,
    math.erf: elementwise(math.erf),
    math.erfc: elementwise(math.erfc),
    math.gamma: gamma,
    math.lgamma: log_gamma,
    math.ldexp: np.ldexp,
    math.remainder: elementwise(math.remainder),
    math.nextafter: np.nextafter,
    **({math.exp2: np.exp2} if hasattr(math, "exp2") else {}),
    cmath.exp: complex_math.exp,
    cmath.log: complex_math.log,
    cmath.log10: complex_math.log10,
    cmath.sqrt: complex_math.sqrt,
    cmath.sin: complex_math.via_rotation(complex_math.sinh),
    cmath.cos: complex_math.cos,
    cmath.tan: complex_math.via_rotation(complex_math.tanh),
    cmath.sinh: complex_math.sinh,
    cmath.cosh: complex_math.cosh,
    cmath.tanh: complex_math.tanh,
    cmath.asin: complex_math.via_rotation(complex_math.asinh),
    cmath.acos: complex_math.acos,
    cmath.atan: complex_math.atan,
    cmath.asinh: complex_math.asinh,
    cmath.acosh: complex_math.acosh,
    cmath.atanh: complex_math.atanh,
    cmath.rect: complex_math.rect,
    cmath.phase: complex_math.phase,
    cmath.isnan: np.isnan,
    cmath.isinf: np.isinf,
    cmath.isfinite: np.isfinite,
    math.degrees: np.degrees,
    math.radians: np.radians,
    **library_math.functions(),
}


@functools.cache
def prepared(function: Callable, dtypes: tuple[np.dtype, ...]) -> Callable | None:
    """Return the function that computes ``function`` on these dtypes.

    It takes NumPy scalars or lane vectors, and its result has the dtype that Numba gives it.
    Returns None if Numba refuses these dtypes, or types the call but cannot compile it.
    """
    rule = numba_types.rule(function, dtypes) or overloads.rule(function, dtypes)
    if rule is None or _is_only_typed(function, rule.operands):
        return None
    cast, result = numba_types.cast, rule.result
    stages = [rule.operands]
    if function in _POWERS and result.kind in "iu":  # an exponent keeps its sign
        stages.append((result, rule.operands[1]))
    elif _must_be_of_result_type(function, rule):
        stages.append((result,) * len(dtypes))
    compute = _implementation(function, dtypes, stages[-1])
    if all(stage == dtypes for stage in stages):
        return lambda *values: cast(compute(*values), result)

    def compute_cast(*values):
        for stage in stages:
            values = map(cast, values, stage)
        return cast(compute(*values), result)

    return compute_cast


def _is_only_typed(function: Callable, operands: tuple[np.dtype, ...]) -> bool:
    """Return True if Numba types this call but cannot compile it.

    That is so for min and max of complex numbers, and for NumPy's functions of float16.
    """
    if function in (min, max):
        return any(d.kind == "c" for d in operands)
    return isinstance(function, np.ufunc) and np.dtype(np.float16) in operands


def _must_be_of_result_type(function: Callable, rule: numba_types.TypingRule) -> bool:
    """Return True if the operands must be cast to the dtype of the result first.

    Otherwise NumPy would compute in another dtype than Numba: it makes a float64 of a signed and an
    unsigned integer, a bool of two bools, and a float16 of an 8-bit integer. Shifts are always
    cast.
    """
    kinds = {d.kind for d in rule.operands}
    mixed = kinds == {"i", "u"} and rule.result.kind in "iu"
    counted = rule.result.kind == "i" and rule.operands[0].kind == "b"
    floated = isinstance(function, np.ufunc) and kinds <= set("biu") and rule.result.kind == "f"
    return mixed or counted or floated or function in _SHIFTS


def _implementation(
    function: Callable, original: tuple[np.dtype, ...], dtypes: tuple[np.dtype, ...]
) -> Callable:
    """Return the function that computes ``function`` on operands of ``dtypes``.

    The operands were cast to them from ``original``. The result of the function may have another
    dtype than Numba's, so the caller casts it.
    """
    if dtypes[0].kind == "b" and function in _BOOLEAN:
        return _BOOLEAN[function]
    if function in _EXTREMES and not all(d in (np.float32, np.float64) for d in original):
        return _EXTREMES[function]  # Numba asks CUDA's fmin and fmax for its float types only
    if isinstance(function, np.ufunc):
        return _SHIFTS_OF_NUMPY.get(function, function)
    return COMPUTE[function]


_SHIFTS = (operator.lshift, operator.rshift)
_SHIFTS_OF_NUMPY = {
    np.left_shift: edge_cases.left_shift,
    np.right_shift: edge_cases.right_shift,
}
_POWERS = (operator.pow, pow)
_EXTREMES = {min: edge_cases.first_or_smaller, max: edge_cases.first_or_larger}
_BOOLEAN = {
    operator.and_: np.logical_and,
    operator.or_: np.logical_or,
    operator.xor: np.logical_xor,
}


def truth(value) -> np.ndarray | np.bool_:
    """Return True where a number is not zero, as a NumPy bool or a boolean lane vector.

    NaN is not zero.
    """
    return value if value.dtype.kind == "b" else value != 0


def merge(chosen: np.ndarray, yes, no):
    """Return an array with ``yes`` where ``chosen`` is True and ``no`` elsewhere.

    ``yes`` and ``no`` are NumPy scalars or lane vectors. The array has the dtype that Numba gives a
    variable which holds either; it has rank 0 if all three are scalars.
    """
    dtype = numba_types.unified(yes.dtype, no.dtype)
    cast = numba_types.cast
    return np.where(chosen, cast(yes, dtype), cast(no, dtype))
