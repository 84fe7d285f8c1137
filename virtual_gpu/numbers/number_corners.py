"""Arithmetic where Numba's code for a device and NumPy differ: powers, quotients, remainders,
shifts and extremes. Each follows Numba's own code; what the hardware makes of the corners was
recorded (data/measured/nvidia_h200/differential.csv).
"""

from __future__ import annotations

import numpy as np

from ..types import numba_types
from . import complex_math
from .fused import fused_multiply_add

MOST_FACTORS = 0x10000  # above, Numba asks pow() of two float64


def power(base, exponent):
    """``base ** exponent`` of one type each."""
    if base.dtype.kind == "c":
        return complex_math.power(base, exponent)
    if exponent.dtype.kind not in "iu":
        return np.power(base, exponent)
    whole = base.dtype.kind in "iu"
    negative = exponent < 0
    size = np.where(negative, -exponent, exponent)
    # The lowest integer has no opposite; Numba ends a thread that asks for a whole number there.
    size = np.where(size < 0, MOST_FACTORS + 1, size)
    product = _product_of_equals(base, np.minimum(size, MOST_FACTORS))
    if whole:  # one over a whole number is whole for 1 and -1 only; 0x8000... stands for 1 / 0
        inverse = np.where(abs(base) == 1, product, 0)
        inverse = np.where(base == 0, np.iinfo(base.dtype).min, inverse)
    else:
        inverse = base.dtype.type(1) / product
    by_float = np.power(base.astype(np.float64), exponent.astype(np.float64))
    large = numba_types.cast(by_float, base.dtype)
    result = np.where(negative, inverse, product)
    fraction = whole & negative & (abs(base) != 1) if whole else False
    most = (size > MOST_FACTORS) & ~np.asarray(fraction, bool)
    return np.where(most, large, result).astype(base.dtype)[()]


def _product_of_equals(base, count):
    """``base`` taken ``count`` times, by squaring."""
    result, factor = np.ones_like(base), base
    count = np.asarray(count)
    while count.any():
        result = np.where(count & 1, result * factor, result)
        factor, count = factor * factor, count >> 1
    return result


def floor_divide(x, y):
    """``x // y``: of the lowest integer and -1 it is 0."""
    if x.dtype.kind == "f":
        return _float_divmod(x, y)[0]
    if x.dtype.kind != "i":
        return np.floor_divide(x, y)
    overflow = (x == np.iinfo(x.dtype).min) & (y == -1)
    return np.where(overflow, 0, np.floor_divide(x, y)).astype(x.dtype)[()]


def remainder(x, y):
    """``x % y``"""
    return _float_divmod(x, y)[1] if x.dtype.kind == "f" else np.remainder(x, y)


def _float_divmod(x, y) -> tuple:
    """Quotient and remainder as Python defines them, from a remainder that the device computes as
    ``x - trunc(x / y) * y``, rounded once: of an infinite y it is no number."""
    left = fused_multiply_add(-np.trunc(x / y), y, x)
    quotient = (x - left) / y
    wrong_sign = (left != 0) & ((y < 0) != (left < 0))
    quotient = np.where(wrong_sign, quotient - x.dtype.type(1), quotient)
    left = np.where(wrong_sign, left + y, left)
    left = np.where(left == 0, np.copysign(left, y), left)
    whole = np.floor(quotient)
    whole = np.where(quotient - whole > 0.5, whole + x.dtype.type(1), whole)
    whole = np.where(quotient == 0, np.copysign(quotient, x / y), whole)
    whole = np.where(y == 0, x / y, whole)
    return whole.astype(x.dtype)[()], left.astype(x.dtype)[()]


def left_shift(x, count):
    """``x << count``: 32 bits of the count are looked at."""
    return np.left_shift(x, _low_bits(x, count))


def right_shift(x, count):
    """``x >> count``: 32 bits of the count are looked at."""
    return np.right_shift(x, _low_bits(x, count))


def _low_bits(x, count):
    if count.dtype.itemsize < 8:
        return count
    return (count & count.dtype.type(0xFFFFFFFF)).astype(x.dtype)


def first_or_larger(x, y):
    """``max(x, y)`` as Python orders them: the first, unless the second is larger."""
    return np.where(y > x, y, x)[()]


def first_or_smaller(x, y):
    """``min(x, y)`` as Python orders them: the first, unless the second is smaller."""
    return np.where(y < x, y, x)[()]
