"""Edge cases in which Numba's device code and NumPy differ: powers, quotients, shifts, extremes.

Each function follows Numba's own code. The results of the hardware in these cases were recorded in
data/measured/nvidia_h200/differential.csv.
"""

from __future__ import annotations

import numpy as np

from ..types import numba_types
from . import complex_math
from .fused import fused_multiply_add

MOST_FACTORS = 0x10000  # for more, Numba calls pow() in float64


def power(base, exponent):
    """Return ``base ** exponent`` in the dtype of ``base``.

    An integer base with a negative exponent gives an integer, too, as in Numba: 1 or -1 for these
    bases, the lowest integer for base 0, and 0 for any other base.
    """
    if base.dtype.kind == "c":
        return complex_math.power(base, exponent)
    if exponent.dtype.kind not in "iu":
        return np.power(base, exponent)
    whole = base.dtype.kind in "iu"
    negative = exponent < 0
    size = np.where(negative, -exponent, exponent)
    # The lowest integer has no opposite; there Numba ends the thread if the result is an integer.
    size = np.where(size < 0, MOST_FACTORS + 1, size)
    product = _power_by_squaring(base, np.minimum(size, MOST_FACTORS))
    if whole:  # 1 / base is an integer for 1 and -1 only; 1 / 0 gives 0x8000...
        inverse = np.where(abs(base) == 1, product, 0)
        inverse = np.where(base == 0, np.iinfo(base.dtype).min, inverse)
    else:
        inverse = base.dtype.type(1) / product
    by_float = np.power(base.astype(np.float64), exponent.astype(np.float64))
    large = numba_types.cast(by_float, base.dtype)
    result = np.where(negative, inverse, product)
    fraction = whole & negative & (abs(base) != 1) if whole else False
    too_many = (size > MOST_FACTORS) & ~np.asarray(fraction, bool)
    return np.where(too_many, large, result).astype(base.dtype)[()]


def _power_by_squaring(base, count):
    """Return ``base`` to the integer power ``count`` (0 or more) by repeated squaring."""
    result, factor = np.ones_like(base), base
    count = np.asarray(count)
    while count.any():
        result = np.where(count & 1, result * factor, result)
        factor, count = factor * factor, count >> 1
    return result


def floor_divide(x, y):
    """Return ``x // y``, rounded down, in the dtype of ``x``.

    The lowest integer divided by -1, and any integer divided by 0, give 0. A float divided by 0
    gives ``x / y``.
    """
    if x.dtype.kind == "f":
        return _float_divmod(x, y)[0]
    if x.dtype.kind != "i":
        return np.floor_divide(x, y)
    overflow = (x == np.iinfo(x.dtype).min) & (y == -1)
    return np.where(overflow, 0, np.floor_divide(x, y)).astype(x.dtype)[()]


def remainder(x, y):
    """Return ``x % y``, which has the sign of y as in Python.

    It is 0 for the integer y = 0, and NaN for a float y that is 0 or infinite.
    """
    return _float_divmod(x, y)[1] if x.dtype.kind == "f" else np.remainder(x, y)


def _float_divmod(x, y) -> tuple:
    """Return the tuple (x // y, x % y) of floats in the dtype of x, rounded as in Python.

    The device computes the remainder as ``x - trunc(x / y) * y``, rounded once, so both are NaN for
    an infinite y. For y = 0 they are x / y and NaN.
    """
    rest = fused_multiply_add(-np.trunc(x / y), y, x)
    quotient = (x - rest) / y
    wrong_sign = (rest != 0) & ((y < 0) != (rest < 0))
    quotient = np.where(wrong_sign, quotient - x.dtype.type(1), quotient)
    rest = np.where(wrong_sign, rest + y, rest)
    rest = np.where(rest == 0, np.copysign(rest, y), rest)
    whole = np.floor(quotient)
    whole = np.where(quotient - whole > 0.5, whole + x.dtype.type(1), whole)
    whole = np.where(quotient == 0, np.copysign(quotient, x / y), whole)
    whole = np.where(y == 0, x / y, whole)
    return whole.astype(x.dtype)[()], rest.astype(x.dtype)[()]


def left_shift(x, count):
    """Return ``x << count``, which uses the low 32 bits of the count.

    A count that is negative or at least the bits of ``x`` gives 0.
    """
    return np.left_shift(x, _low_bits(x, count))


def right_shift(x, count):
    """Return ``x >> count``, which uses the low 32 bits of the count.

    A count that is negative or at least the bits of ``x`` gives 0, or -1 if ``x`` is negative.
    """
    return np.right_shift(x, _low_bits(x, count))


def _low_bits(x, count):
    """Return the low 32 bits of a shift's count; a count of at most 32 bits is unchanged."""
    if count.dtype.itemsize < 8:
        return count
    return (count & count.dtype.type(0xFFFFFFFF)).astype(x.dtype)


def first_or_larger(x, y):
    """Return ``max(x, y)`` as Python orders them: the first, unless the second is larger.

    If ``x`` or ``y`` is NaN, the result is ``x``.
    """
    return np.where(y > x, y, x)[()]


def first_or_smaller(x, y):
    """Return ``min(x, y)`` as Python orders them: the first, unless the second is smaller.

    If ``x`` or ``y`` is NaN, the result is ``x``.
    """
    return np.where(y < x, y, x)[()]
