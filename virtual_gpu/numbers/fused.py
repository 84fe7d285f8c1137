"""``a * b + c`` with one rounding, which NumPy does not have."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

SPLIT = 2.0**27 + 1  # it parts a float64 into two halves (Veltkamp)
SMALL, LARGE = 1e-140, 1e140  # between them no part of a product is lost


def fused_multiply_add(a, b, c):
    """``a * b + c`` of values of one float type, rounded once."""
    wide = np.broadcast_arrays(*(np.asarray(v, np.float64) for v in (a, b, c)))
    with np.errstate(all="ignore"):
        result = _of_double(*wide) if a.dtype == np.float64 else _of_narrow(*wide)
        return result.astype(a.dtype)[()]


def _of_narrow(a, b, c):
    """The product is exact in float64; the sum is prepared for its rounding to fewer bits."""
    return _to_odd(*_two_sum(a * b, c))


def _of_double(a, b, c):
    """By Boldo and Melquiond: the parts that do not fit are rounded to odd."""
    product, low = _two_product(a, b)
    high_rest, low_rest = _two_sum(c, low)
    total, rest = _two_sum(product, high_rest)
    result = total + _to_odd(*_two_sum(rest, low_rest))
    plain = np.where(np.isinf(c) & np.isfinite(a) & np.isfinite(b), c, a * b + c)
    result = np.where(result == 0, plain, result)  # a zero with its sign
    ordinary = np.logical_and.reduce([(abs(v) < LARGE) & (abs(v) > SMALL) for v in (a, b, c)])
    exact = np.logical_or.reduce([(v == 0) | ~np.isfinite(v) for v in (a, b, c)])
    result = np.where(exact, plain, result)
    special = ~ordinary & ~exact
    return np.where(special, _by_fractions(a, b, c, special), result) if special.any() else result


def _two_sum(a, b):
    """A sum and what its rounding lost."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a, b):
    """A product and what its rounding lost."""
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    product = a * b
    return product, a_low * b_low - (
        ((product - a_high * b_high) - a_low * b_high) - a_high * b_low
    )


def _halves(a):
    scaled = SPLIT * a
    high = scaled - (scaled - a)
    return high, a - high


def _to_odd(total, rest):
    """Where something was lost, the neighbour with an odd last bit, so that the next rounding sees
    that it was."""
    even = (np.asarray(total).view(np.int64) & 1) == 0
    lost = np.isfinite(total) & np.isfinite(rest) & (rest != 0)
    return np.where(lost & even, np.nextafter(total, np.copysign(np.inf, rest)), total)


def _by_fractions(a, b, c, chosen):
    """Exact arithmetic for the few values that are zero, very small, very large or no numbers."""
    result = np.asarray(a * b + c)
    a, b, c = np.broadcast_arrays(a, b, c)
    for at in map(tuple, np.argwhere(np.broadcast_to(chosen, result.shape))):
        given = [float(v[at]) for v in (a, b, c)]
        if all(map(math.isfinite, given)):
            result[at] = _rounded(*given, float(result[at]))
    return result


def _rounded(a: float, b: float, c: float, plain: float) -> float:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return float(exact) if exact else plain
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
