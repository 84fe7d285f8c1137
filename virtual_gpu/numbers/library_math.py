"""The functions of ``cuda.fp16`` and of ``numba.cuda.libdevice``, implemented with NumPy.

Their types are Numba's. Half precision is computed in float32 and rounded once. A kernel that calls
a function that is not here is refused.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

import numpy as np
from numba.cuda import libdevice

try:
    from numba.cuda import fp16
except ImportError:  # plain Numba has them among its stubs
    from numba.cuda.stubs import fp16

from .edge_cases import power
from .elementwise import elementwise, gamma, log_gamma
from .fused import fused_multiply_add


def _rounded_away(x):
    """Return ``x`` rounded to a whole number, with halfway cases away from zero."""
    whole = np.trunc(x)
    return whole + np.copysign(abs(x - whole) >= 0.5, x).astype(x.dtype)


def _viewed_as(dtype: type) -> Callable:
    """Return a function that reinterprets the bits of a value as another dtype."""
    return lambda x: np.asarray(x).view(dtype)[()]


def _high_product(a, b):
    """Return the upper 32 bits of the 64-bit product of two 32-bit integers."""
    wide = np.uint64 if a.dtype.kind == "u" else np.int64
    return ((a.astype(wide) * b.astype(wide)) >> wide(32)).astype(a.dtype)


def _unsigned(compute: Callable) -> Callable:
    """Return a function that applies ``compute`` to two signed integers, read as unsigned.

    Its result is read as signed again, because Numba declares all integers of libdevice as signed.
    """
    def of_bits(a, b):
        kind = f"u{a.dtype.itemsize}"
        return compute(a.view(kind), b.view(kind)).view(a.dtype)

    return of_bits


def _positive_difference(x, y):
    """Return ``x - y`` where it is positive, else 0; NaN if ``x`` or ``y`` is NaN."""
    return np.where(np.isnan(x) | np.isnan(y), np.nan, np.where(x > y, x - y, 0))


def _exponent(x):
    """Return CUDA's ``logb(x)``, the binary exponent as a float.

    It is -infinity for zero, and ``abs(x)`` for an infinity or NaN.
    """
    exponent = (np.frexp(x)[1] - 1).astype(x.dtype)
    exponent = np.where(x == 0, -np.inf, exponent)
    return np.where(np.isfinite(x), exponent, abs(x))


def _sine_of_pi_times(x):
    """Return sin(pi * x) in float64; for whole numbers it is a zero with the sign of x."""
    remainder = np.fmod(x.astype(np.float64), 2)
    return np.where(remainder == np.rint(remainder), np.copysign(0.0, x), np.sin(np.pi * remainder))


def _cosine_of_pi_times(x):
    """Return cos(pi * x) in float64; it is exactly 0 halfway between whole numbers."""
    remainder = np.fmod(x.astype(np.float64), 2)
    return np.where(abs(remainder) % 1 == 0.5, 0.0, np.cos(np.pi * remainder))


_BOTH = {  # of float64; of float32 with the suffix f
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh,
    "atan": np.arctan, "atan2": np.arctan2, "atanh": np.arctanh, "cbrt": np.cbrt, "ceil": np.ceil,
    "copysign": np.copysign, "cos": np.cos, "cosh": np.cosh, "exp": np.exp, "exp2": np.exp2,
    "expm1": np.expm1, "fabs": np.fabs, "floor": np.floor, "fmax": np.fmax, "fmin": np.fmin,
    "fmod": np.fmod, "hypot": np.hypot, "log": np.log, "log10": np.log10, "log1p": np.log1p,
    "log2": np.log2, "nearbyint": np.rint, "nextafter": np.nextafter, "pow": np.power,
    "powi": power, "rint": np.rint, "sin": np.sin,
    "sinh": np.sinh, "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh, "trunc": np.trunc,
    "exp10": lambda x: np.power(x.dtype.type(10), x), "rsqrt": lambda x: 1 / np.sqrt(x),
    "rcbrt": lambda x: 1 / np.cbrt(x), "fdim": _positive_difference,
    "sinpi": _sine_of_pi_times, "ldexp": np.ldexp, "scalbn": np.ldexp,
    "cospi": _cosine_of_pi_times, "round": _rounded_away, "llrint": np.rint,
    "llround": _rounded_away, "erf": elementwise(math.erf), "erfc": elementwise(math.erfc),
    "tgamma": gamma, "lgamma": log_gamma, "fma": fused_multiply_add,
    "remainder": elementwise(math.remainder), "logb": _exponent,
    "normcdf": elementwise(lambda x: 0.5 * math.erfc(-x / math.sqrt(2))),
}  # fmt: skip
_ONE = {
    "isnand": np.isnan, "isnanf": np.isnan, "isinfd": np.isinf, "isinff": np.isinf,
    "isfinited": np.isfinite, "finitef": np.isfinite, "signbitd": np.signbit,
    "signbitf": np.signbit, "abs": np.abs, "llabs": np.abs, "max": np.maximum, "min": np.minimum,
    "umax": _unsigned(np.maximum), "umin": _unsigned(np.minimum),
    "llmax": np.maximum, "llmin": np.minimum,
    "ullmax": _unsigned(np.maximum), "ullmin": _unsigned(np.minimum),
    "saturatef": lambda x: np.fmin(np.fmax(x, 0), 1),
    "fast_fdividef": np.divide, "float_as_int": _viewed_as(np.int32),
    "int_as_float": _viewed_as(np.float32),
    "double_as_longlong": _viewed_as(np.int64), "longlong_as_double": _viewed_as(np.float64),
    "fadd_rn": np.add, "fsub_rn": np.subtract, "fmul_rn": np.multiply, "fdiv_rn": np.divide,
    "fsqrt_rn": np.sqrt, "frcp_rn": np.reciprocal,
    "frsqrt_rn": lambda x: 1 / np.sqrt(x.astype(np.float64)),  # the float64 result is rounded once
    "dadd_rn": np.add, "dmul_rn": np.multiply, "ddiv_rn": np.divide, "dsqrt_rn": np.sqrt,
    "drcp_rn": np.reciprocal, "fmaf_rn": fused_multiply_add,
    "mulhi": _high_product, "umulhi": _unsigned(_high_product),
    "float2int_rz": np.trunc, "float2int_rn": np.rint, "float2int_rd": np.floor,
    "float2int_ru": np.ceil, "double2int_rz": np.trunc, "double2int_rn": np.rint,
    "double2int_rd": np.floor, "double2int_ru": np.ceil,
    **{f"fast_{name}f": _BOTH[name] for name in (
        "cos", "exp", "exp10", "log", "log2", "log10", "pow", "sin", "tan",
    )},
}  # fmt: skip
_PAIRS = {  # named as in _BOTH; two results, with their dtypes
    "sincos": (lambda x: (np.sin(x), np.cos(x)), (None, None)),
    "sincospi": (lambda x: (_sine_of_pi_times(x), _cosine_of_pi_times(x)), (None, None)),
    "modf": (np.modf, (None, None)),
    "frexp": (np.frexp, (None, np.int32)),
}
_HALF = {
    "hadd": np.add, "hsub": np.subtract, "hmul": np.multiply, "hdiv": np.divide,
    "hneg": np.negative, "habs": np.abs, "hmax": np.fmax, "hmin": np.fmin, "heq": operator.eq,
    "hne": lambda a, b: (a < b) | (a > b),  # False for NaN
    "hlt": operator.lt, "hle": operator.le, "hgt": operator.gt,
    "hge": operator.ge,
    **{f"h{name}": _BOTH[name] for name in (
        "sin", "cos", "log", "log2", "log10", "exp", "exp2", "exp10", "sqrt", "rsqrt", "ceil",
        "floor", "trunc", "rint", "tanh",
    )},
    "hrcp": np.reciprocal, "htanh_approx": np.tanh,
}  # fmt: skip


def _in_float32(compute: Callable) -> Callable:
    """Return a function of float16 values that calls ``compute`` with them cast to float32.

    The result of ``compute`` is returned as it is, without a cast to float16.
    """
    return lambda *values: compute(*(v.astype(np.float32) for v in values))


def functions() -> dict[Callable, Callable]:
    """Return a dict from functions of ``libdevice`` and ``cuda.fp16`` to their implementations.

    An implementation takes NumPy scalars or lane vectors; its result may have another dtype than
    the function's, so the caller casts it. Functions of libdevice with two results, which ``pairs``
    has, and those that this version of Numba does not have are left out.
    """
    by_name = {**_BOTH, **{f"{name}f": compute for name, compute in _BOTH.items()}, **_ONE}
    doubles = {
        getattr(libdevice, name): compute
        for name, compute in by_name.items()
        if hasattr(libdevice, name)
    }
    halves = {
        getattr(fp16, name): _in_float32(compute)
        for name, compute in _HALF.items()
        if hasattr(fp16, name)
    }
    if hasattr(fp16, "hfma"):
        halves[fp16.hfma] = fused_multiply_add
    return doubles | halves


def pairs() -> dict[Callable, tuple]:
    """Return a dict from the libdevice functions with two results to their implementations.

    Each value is a tuple of the implementation, the dtypes of its results (None for the argument's
    dtype), and the argument's dtype.
    """
    by_name = {name: (*pair, np.float64) for name, pair in _PAIRS.items()}
    by_name |= {f"{name}f": (*pair, np.float32) for name, pair in _PAIRS.items()}
    by_name["fast_sincosf"] = by_name["sincosf"]
    return {
        getattr(libdevice, name): pair for name, pair in by_name.items() if hasattr(libdevice, name)
    }
