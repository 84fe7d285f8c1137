"""``a * b + c`` with one rounding, which NumPy does not have."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

SPLIT = 2.0**27 + 1  # splits a float64 into two halves (Veltkamp)
SMALL, LARGE = 1e-140, 1e140  # between them no part of a product over- or underflows


def fused_multiply_add(a, b, c):
    """Return ``a * b + c`` of values of one float dtype, rounded once.

    The values are NumPy scalars or lane vectors, and the result has the dtype of ``a``.
    """
    wide = np.broadcast_arrays(*(np.asarray(v, np.float64) for v in (a, b, c)))
    with np.errstate(all="ignore"):
        result = _of_double(*wide) if a.dtype == np.float64 else _of_narrow(*wide)
        return result.astype(a.dtype)[()]


def _of_narrow(a, b, c):
    """Return ``a * b + c`` as a float64 that is rounded to odd.

    The product of narrower floats is exact in float64. The caller rounds the result to fewer bits.
    """
    return _to_odd(*_two_sum(a * b, c))


def _of_double(a, b, c):
    """Return ``a * b + c`` of float64 values, rounded once.

    This is Boldo and Melquiond's algorithm, which rounds an intermediate sum to odd. Very large and
    very small operands are computed with exact fractions.
    """
    product, low = _two_product(a, b)
    high_rest, low_rest = _two_sum(c, low)
    total, rest = _two_sum(product, high_rest)
    result = total + _to_odd(*_two_sum(rest, low_rest))
    plain = np.where(np.isinf(c) & np.isfinite(a) & np.isfinite(b), c, a * b + c)
    result = np.where(result == 0, plain, result)  # keeps the sign of a zero
    ordinary = np.logical_and.reduce([(abs(v) < LARGE) & (abs(v) > SMALL) for v in (a, b, c)])
    exact = np.logical_or.reduce([(v == 0) | ~np.isfinite(v) for v in (a, b, c)])
    result = np.where(exact, plain, result)
    special = ~ordinary & ~exact
    return np.where(special, _by_fractions(a, b, c, special), result) if special.any() else result


def _two_sum(a, b):
    """Return the tuple (rounded sum, its exact rounding error)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a, b):
    """Return the tuple (rounded product, its exact rounding error)."""
    (a_high, a_low), (b_high, b_low) = _split(a), _split(b)
    product = a * b
    return product, a_low * b_low - (
        ((product - a_high * b_high) - a_low * b_high) - a_high * b_low
    )


def _split(a):
    """Return the tuple (high half, low half) of a float64; their sum is the number."""
    scaled = SPLIT * a
    high = scaled - (scaled - a)
    return high, a - high


def _to_odd(total, rest):
    """Return the exact sum ``total + rest`` rounded to odd, for a rounded sum and its error.

    If ``rest`` is not zero, the result is the neighbour whose last bit is odd, so that the next
    rounding sees that something was lost.
    """
    even = (np.asarray(total).view(np.int64) & 1) == 0
    lost = np.isfinite(total) & np.isfinite(rest) & (rest != 0)
    return np.where(lost & even, np.nextafter(total, np.copysign(np.inf, rest)), total)


def _by_fractions(a, b, c, chosen):
    """Return ``a * b + c``, computed exactly and rounded once where ``chosen`` is True.

    Elsewhere, and for operands that are not finite, the result is that of float64.
    """
    result = np.asarray(a * b + c)
    a, b, c = np.broadcast_arrays(a, b, c)
    for index in map(tuple, np.argwhere(np.broadcast_to(chosen, result.shape))):
        operands = [float(v[index]) for v in (a, b, c)]
        if all(map(math.isfinite, operands)):
            result[index] = _rounded(*operands, float(result[index]))
    return result


def _rounded(a: float, b: float, c: float, plain: float) -> float:
    """Return ``a * b + c``, computed exactly and rounded once; infinity after an overflow.

    ``plain`` is returned if the result is zero, because it has the right sign.
    """
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return float(exact) if exact else plain
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
