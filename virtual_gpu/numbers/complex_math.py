"""Functions of complex numbers by Numba's formulas, so that infinities and NaN come out as there.

Each takes NumPy scalars or lane vectors of one complex type.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

HALF_LIMIT = float(np.finfo(np.float32).max) / 4  # Numba's bound, for both complex types


def made_of(real, imaginary):
    """A complex number of two parts of one float type: no product that makes NaN of infinity."""
    kind = np.result_type(real, imaginary)
    result = np.empty(np.broadcast(real, imaginary).shape, f"c{2 * kind.itemsize}")
    result.real, result.imag = real, imaginary
    return result[()]


def exp(z):
    """``cmath.exp``."""
    x, y = z.real, z.imag
    turned, scale = (np.cos(y), np.sin(y)), np.exp(x)
    large, small = np.isposinf(x), np.isneginf(x)
    parts = [
        np.where(large & (part != 0), part * x, np.where(large, part, scale * part))
        for part in turned
    ]
    circles = ~np.isfinite(y)  # the angle is no number
    real = np.where(circles, np.where(large, x, np.where(small, 0, np.nan)), parts[0])
    imaginary = np.where(circles, np.where(small, 0, np.nan), parts[1])
    real = np.where(np.isnan(x), x, real)
    imaginary = np.where(np.isnan(x), np.where(y == 0, y, x), imaginary)
    return made_of(real.astype(x.dtype), imaginary.astype(x.dtype))


def log(z, base=None):
    """``cmath.log``, with or without a base."""
    result = made_of(np.log(np.hypot(z.real, z.imag)), np.arctan2(z.imag, z.real))
    return result if base is None else result / log(base)


def log10(z):
    """``cmath.log10``."""
    natural = log(z)
    scale = np.float64(2.302585092994045684)
    return made_of(natural.real / scale, natural.imag / scale)


def rect(size, angle):
    """``cmath.rect``."""
    infinite, circles = np.isinf(size), ~np.isfinite(angle)
    real, imaginary = (
        np.where((part == 0) & infinite, part / size, part * size)
        for part in (np.cos(angle), np.sin(angle))
    )
    result = np.where(circles & infinite, made_of(size, angle), made_of(real, imaginary))
    return np.where(circles & (size == 0), abs(size), result)[()]


def sqrt(z):
    """``cmath.sqrt``. Of numbers near the largest, Numba halves the imaginary part."""
    bound = np.finfo(z.real.dtype).max / (1 + np.sqrt(2))
    large = ((abs(z.real) >= bound) | (abs(z.imag) >= bound)) & np.isfinite(z)
    root = np.sqrt(z)
    halved = made_of(root.real, root.imag * z.real.dtype.type(0.5))
    return np.where(large, halved, root)[()]


def phase(z):
    """``cmath.phase``."""
    return np.arctan2(z.imag, z.real)


def cosh(z):
    """``cmath.cosh``."""
    x, y = z.real, z.imag
    plain = np.isnan(y) | (y == 0)
    real = np.where(plain, abs(x), np.copysign(x, np.cos(y)))
    imaginary = np.where(plain, y, np.copysign(x, np.sin(y)))
    imaginary = np.where(x < 0, -imaginary, imaginary)
    infinite = np.isinf(x)
    return made_of(
        np.where(infinite, real, np.cos(y) * np.cosh(x)),
        np.where(infinite, imaginary, np.sin(y) * np.sinh(x)),
    )


def sinh(z):
    """``cmath.sinh``."""
    x, y = z.real, z.imag
    turned = np.cos(y), np.sin(y)
    real, imaginary = (
        np.where(part != 0, part * size, part)
        for part, size in zip(turned, (x, abs(x)), strict=True)
    )
    infinite, undefined = np.isinf(x), np.isnan(y)
    return made_of(
        np.where(infinite, np.where(undefined, x, real), turned[0] * np.sinh(x)),
        np.where(infinite, np.where(undefined, y, imaginary), turned[1] * np.cosh(x)),
    )


def tanh(z):
    """``cmath.tanh``."""
    x, y = z.real, z.imag
    tx, ty, cx = np.tanh(x), np.tan(y), 1 / np.cosh(x)
    denominator = 1 + (tx * ty) * (tx * ty)
    real = tx * (1 + ty * ty) / denominator
    imaginary = ((ty / denominator) * cx) * cx
    flat = np.where(np.isinf(y), 0, np.copysign(0, np.sin(2 * y)))
    infinite = np.isinf(x)
    real = np.where(infinite, np.copysign(1, x), real).astype(x.dtype)
    return made_of(real, np.where(infinite, flat, imaginary).astype(x.dtype))


def acosh(z):
    """``cmath.acosh``."""
    below, above = sqrt(made_of(z.real - 1, z.imag)), sqrt(made_of(z.real + 1, z.imag))
    real = np.arcsinh(below.real * above.real + below.imag * above.imag)
    imaginary = 2 * np.arctan2(below.imag, above.real)
    large = _is_large(z)
    return made_of(
        np.where(large, _large_log(z), real).astype(z.real.dtype),
        np.where(large, phase(z), imaginary).astype(z.real.dtype),
    )


def asinh(z):
    """``cmath.asinh``."""
    first = sqrt(made_of(1 + z.imag, -z.real))
    second = sqrt(made_of(1 - z.imag, z.real))
    real = np.arcsinh(first.real * second.imag - second.real * first.imag)
    imaginary = np.arctan2(z.imag, first.real * second.real - first.imag * second.imag)
    large = _is_large(z)
    return made_of(
        np.where(large, np.copysign(_large_log(z), z.real), real).astype(z.real.dtype),
        np.where(large, np.arctan2(z.imag, abs(z.real)), imaginary).astype(z.real.dtype),
    )


def acos(z):
    """``cmath.acos``."""
    below = sqrt(made_of(1 - z.real, -z.imag))
    above = sqrt(made_of(1 + z.real, z.imag))
    real = 2 * np.arctan2(below.real, above.real)
    imaginary = np.arcsinh(above.real * below.imag - above.imag * below.real)
    large = _is_large(z)
    return made_of(
        np.where(large, np.arctan2(abs(z.imag), z.real), real).astype(z.real.dtype),
        np.where(large, np.copysign(_large_log(z), -z.imag), imaginary).astype(z.real.dtype),
    )


def _is_large(z):
    return (abs(z.real) > HALF_LIMIT) | (abs(z.imag) > HALF_LIMIT)


def _large_log(z):
    """The logarithm of twice a large number's size."""
    return np.log(np.hypot(z.real * 0.5, z.imag * 0.5)) + np.log(4.0)


def atanh(z):
    """``cmath.atanh``."""
    negative = z.real < 0
    z = np.where(negative, -z, z)
    height, bound = abs(z.imag), np.sqrt(HALF_LIMIT)
    large = np.isnan(z.real) | (z.real > bound) | (height > bound)
    small = (z.real == 1) & (height < np.sqrt(np.finfo(np.float32).tiny))
    size, rest = np.hypot(z.real * 0.5, z.imag * 0.5), 1 - z.real
    near = -np.log(np.sqrt(height) / np.sqrt(np.hypot(height, 2.0)))
    below = rest * rest + height * height
    far = np.where(np.isinf(z.real), 0.0, z.real / 4.0 / size / size)
    real = np.select(
        [large & np.isinf(z.imag), large, small & (height == 0), small],
        [np.copysign(0.0, z.real), far, np.inf, near],
        np.log1p(4.0 * z.real / below) * 0.25,
    )
    imaginary = np.select(
        [np.isnan(z.imag), large, small & (height == 0), small],
        [
            np.nan, -np.copysign(np.pi / 2, -z.imag), z.imag,
            np.copysign(np.arctan2(2.0, -height) / 2, z.imag),
        ],
        -np.arctan2(-2.0 * z.imag, rest * (1 + z.real) - height * height) * 0.5,
    )  # fmt: skip
    result = made_of(real, imaginary)
    return np.where(negative, -result, result).astype(z.dtype)[()]


def atan(z):
    """``cmath.atan``."""
    result = atanh(made_of(-z.imag, z.real))
    odd = np.isinf(z.real) & np.isnan(z.imag)
    return made_of(result.imag, np.where(odd, result.real, -result.real).astype(z.real.dtype))


def turned_by(function: Callable) -> Callable:
    """A function of z by another one of jz: sin by sinh, tan by tanh, asin by asinh."""

    def of(z):
        result = function(made_of(-z.imag, z.real))
        return made_of(result.imag, -result.real)

    return of


def cos(z):
    """``cmath.cos``."""
    return cosh(made_of(-z.imag, z.real))


def power(base, exponent):
    """``base ** exponent``."""
    size = np.hypot(base.real, base.imag)
    length = np.power(size, exponent.real)
    angle = np.arctan2(base.imag, base.real)
    turn = angle * exponent.real
    turns = exponent.imag != 0
    length = np.where(turns, length / np.exp(angle * exponent.imag), length)
    turn = np.where(turns, turn + exponent.imag * np.log(size), turn)
    result = made_of(length * np.cos(turn), length * np.sin(turn))
    result = np.where((base.real == 0) & (exponent.real == 0), 0, result)
    result = np.where((exponent.real == 0) & (exponent.imag == 0), 1, result)
    return result.astype(base.dtype)[()]
