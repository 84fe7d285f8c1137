"""Arithmetic: operators and functions of a kernel as NumPy operations on lanes."""

from __future__ import annotations

import ast
import cmath
import math
import operator
from collections.abc import Callable

import numpy as np

from . import numba_types

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


def _power(base, exponent):
    """Integer powers as Numba computes them: a negative exponent truncates to zero."""
    if base.dtype.kind in "iu" and exponent.dtype.kind == "i":
        fraction = np.where(exponent < 0, np.power(base.astype(float), exponent), 0.0)
        whole = np.power(base, np.maximum(exponent, 0))
        result = np.where(exponent < 0, fraction.astype(base.dtype), whole)
        return result if result.ndim else result[()]
    return np.power(base, exponent)


def _round(value, digits=None):
    return np.round(value) if digits is None else np.round(value, int(digits))


def fused_multiply_add(a, b, c):
    """One rounding, as the hardware: exact in float64 for float32 but for double rounding."""
    if a.dtype == np.float32:
        exact = a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)
        return exact.astype(np.float32)
    return a * b + c


def _elementwise(function: Callable) -> Callable:
    """A function of ``math`` on vectors; outside its domain it gives NaN, as on a GPU."""

    def safe(value: float) -> float:
        try:
            return function(value)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return np.vectorize(safe, otypes=[np.float64])

# NumPy functions that numba-cuda compiles in kernels; it refuses the others.
UFUNCS = frozenset({
    np.arccos, np.arccosh, np.arcsin, np.arcsinh, np.arctan, np.arctan2, np.arctanh,
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.conjugate, np.cos, np.cosh, np.deg2rad,
    np.degrees, np.divide, np.equal, np.fmax, np.fmin, np.greater, np.greater_equal, np.hypot,
    np.invert, np.isnan, np.left_shift, np.less, np.less_equal, np.log, np.log10, np.log2,
    np.logical_and, np.logical_not, np.logical_or, np.logical_xor, np.maximum, np.minimum,
    np.not_equal, np.rad2deg, np.radians, np.right_shift, np.sin, np.sinh, np.tan, np.tanh,
})  # fmt: skip

# What computes each operation, once its operands are cast as Numba's rule says.
COMPUTE: dict[Callable, Callable] = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.divide,
    operator.floordiv: np.floor_divide,
    operator.mod: np.remainder,
    operator.pow: _power,
    operator.lshift: np.left_shift,
    operator.rshift: np.right_shift,
    operator.and_: np.bitwise_and,
    operator.or_: np.bitwise_or,
    operator.xor: np.bitwise_xor,
    operator.neg: np.negative,
    operator.pos: np.positive,
    operator.invert: np.invert,
    operator.eq: np.equal,
    operator.ne: np.not_equal,
    operator.lt: np.less,
    operator.le: np.less_equal,
    operator.gt: np.greater,
    operator.ge: np.greater_equal,
    min: np.fmin,
    max: np.fmax,
    abs: np.abs,
    round: _round,
    pow: _power,
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
    math.erf: _elementwise(math.erf),
    math.erfc: _elementwise(math.erfc),
    math.gamma: _elementwise(math.gamma),
    math.lgamma: _elementwise(math.lgamma),
    math.ldexp: np.ldexp,
    cmath.exp: np.exp,
    cmath.log: np.log,
    cmath.sqrt: np.sqrt,
    cmath.sin: np.sin,
    cmath.cos: np.cos,
    cmath.tan: np.tan,
    cmath.sinh: np.sinh,
    cmath.cosh: np.cosh,
    cmath.tanh: np.tanh,
    cmath.phase: np.angle,
    cmath.isnan: np.isnan,
    cmath.isinf: np.isinf,
    cmath.isfinite: np.isfinite,
    math.degrees: np.degrees,
    math.radians: np.radians,
}


def apply(function: Callable, values: tuple):
    """``function`` on typed values; None where Numba refuses the types.

    Values are NumPy scalars or lane vectors. The result has the dtype that Numba gives it.
    """
    rule = numba_types.rule(function, tuple(v.dtype for v in values))
    if rule is None:
        return None
    cast = numba_types.cast
    operands = [cast(v, d) for v, d in zip(values, rule.operands, strict=True)]
    if {o.dtype.kind for o in operands} == {"i", "u"} and rule.result.kind in "iu":
        operands = [cast(o, rule.result) for o in operands]  # NumPy would go to float64
    if function in _SHIFTS or (rule.result.kind == "i" and operands[0].dtype.kind == "b"):
        operands = [cast(o, rule.result) for o in operands]
    if operands[0].dtype.kind == "b" and function in _BOOLEAN:
        return _BOOLEAN[function](*operands)
    compute = function if isinstance(function, np.ufunc) else COMPUTE[function]
    return cast(compute(*operands), rule.result)


_SHIFTS = (operator.lshift, operator.rshift)
_BOOLEAN = {
    operator.and_: np.logical_and,
    operator.or_: np.logical_or,
    operator.xor: np.logical_xor,
}


def truth(value) -> np.ndarray | np.bool_:
    """A value as a condition."""
    return value if value.dtype.kind == "b" else value != 0


def merge(chosen: np.ndarray, yes, no):
    """``yes`` where ``chosen`` holds, else ``no``, in the type that Numba gives such a variable."""
    dtype = numba_types.unified(yes.dtype, no.dtype)
    cast = numba_types.cast
    return np.where(chosen, cast(yes, dtype), cast(no, dtype))
