"""Functions of complex numbers by Numba's formulas, so that infinities and NaN agree with Numba.

Each takes NumPy scalars or lane vectors of one complex dtype.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

HALF_LIMIT = float(np.finfo(np.float32).max) / 4  # Numba's bound, for both complex types


def from_parts(real, imaginary):
    """Return the complex number with these float parts, numbers or vectors that are broadcast.

    The result has the complex dtype of the wider part. Unlike ``real + 1j * imaginary``, this turns
    no infinity into NaN.
    """
    kind = np.result_type(real, imaginary)
    result = np.empty(np.broadcast(real, imaginary).shape, f"c{2 * kind.itemsize}")
    result.real, result.imag = real, imaginary
    return result[()]


def exp(z):
    """Return ``cmath.exp(z)`` per element of z, a NumPy scalar or lane vector, in z's dtype.

    After an overflow the parts are infinite or NaN; nothing is raised.
    """
    x, y = z.real, z.imag
    direction, scale = (np.cos(y), np.sin(y)), np.exp(x)
    large, small = np.isposinf(x), np.isneginf(x)
    parts = [
        np.where(large & (part != 0), part * x, np.where(large, part, scale * part))
        for part in direction
    ]
    no_angle = ~np.isfinite(y)  # the angle is infinite or NaN
    real = np.where(no_angle, np.where(large, x, np.where(small, 0, np.nan)), parts[0])
    imaginary = np.where(no_angle, np.where(small, 0, np.nan), parts[1])
    real = np.where(np.isnan(x), x, real)
    imaginary = np.where(np.isnan(x), np.where(y == 0, y, x), imaginary)
    return from_parts(real.astype(x.dtype), imaginary.astype(x.dtype))


def log(z, base=None):
    """Return ``cmath.log(z)``, or with ``base`` the logarithm of z to that complex base.

    ``z`` is a NumPy scalar or lane vector, and the result has its dtype. The logarithm of 0 has the
    real part -infinity; nothing is raised.
    """
    result = from_parts(np.log(np.hypot(z.real, z.imag)), np.arctan2(z.imag, z.real))
    return result if base is None else result / log(base)


def log10(z):
    """Return the logarithm to base 10 by Numba's formula, log(z) / ln 10, per element.

    The division is in float64, so the result is complex128 for every dtype of z.
    """
    natural = log(z)
    scale = np.float64(2.302585092994045684)
    return from_parts(natural.real / scale, natural.imag / scale)


def rect(size, angle):
    """Return ``cmath.rect(size, angle)`` per element of two float scalars or lane vectors.

    The result is complex, with parts of their dtype; ``angle`` is in radians.
    """
    infinite, no_angle = np.isinf(size), ~np.isfinite(angle)
    real, imaginary = (
        np.where((part == 0) & infinite, part / size, part * size)
        for part in (np.cos(angle), np.sin(angle))
    )
    result = np.where(no_angle & infinite, from_parts(size, angle), from_parts(real, imaginary))
    return np.where(no_angle & (size == 0), abs(size), result)[()]


def sqrt(z):
    """Return ``cmath.sqrt(z)`` per element, in z's dtype.

    For numbers near the largest of the dtype, the imaginary part is half of the right one, because
    Numba halves it.
    """
    bound = np.finfo(z.real.dtype).max / (1 + np.sqrt(2))
    large = ((abs(z.real) >= bound) | (abs(z.imag) >= bound)) & np.isfinite(z)
    root = np.sqrt(z)
    halved = from_parts(root.real, root.imag * z.real.dtype.type(0.5))
    return np.where(large, halved, root)[()]


def phase(z):
    """Return ``cmath.phase(z)`` per element, the angle in radians.

    The result has the float dtype of z's parts.
    """
    return np.arctan2(z.imag, z.real)


def cosh(z):
    """Return ``cmath.cosh(z)`` per element of z, a NumPy scalar or lane vector, in z's dtype.

    After an overflow the parts are infinite or NaN; nothing is raised.
    """
    x, y = z.real, z.imag
    plain = np.isnan(y) | (y == 0)
    real = np.where(plain, abs(x), np.copysign(x, np.cos(y)))
    imaginary = np.where(plain, y, np.copysign(x, np.sin(y)))
    imaginary = np.where(x < 0, -imaginary, imaginary)
    infinite = np.isinf(x)
    return from_parts(
        np.where(infinite, real, np.cos(y) * np.cosh(x)),
        np.where(infinite, imaginary, np.sin(y) * np.sinh(x)),
    )


def sinh(z):
    """Return ``cmath.sinh(z)`` per element of z, a NumPy scalar or lane vector, in z's dtype.

    After an overflow the parts are infinite or NaN; nothing is raised.
    """
    x, y = z.real, z.imag
    direction = np.cos(y), np.sin(y)
    real, imaginary = (
        np.where(part != 0, part * size, part)
        for part, size in zip(direction, (x, abs(x)), strict=True)
    )
    infinite, undefined = np.isinf(x), np.isnan(y)
    return from_parts(
        np.where(infinite, np.where(undefined, x, real), direction[0] * np.sinh(x)),
        np.where(infinite, np.where(undefined, y, imaginary), direction[1] * np.cosh(x)),
    )


def tanh(z):
    """Return ``cmath.tanh(z)`` per element of z, a NumPy scalar or lane vector, in z's dtype."""
    x, y = z.real, z.imag
    tx, ty, cx = np.tanh(x), np.tan(y), 1 / np.cosh(x)
    denominator = 1 + (tx * ty) * (tx * ty)
    real = tx * (1 + ty * ty) / denominator
    imaginary = ((ty / denominator) * cx) * cx
    flat = np.where(np.isinf(y), 0, np.copysign(0, np.sin(2 * y)))
    infinite = np.isinf(x)
    real = np.where(infinite, np.copysign(1, x), real).astype(x.dtype)
    return from_parts(real, np.where(infinite, flat, imaginary).astype(x.dtype))


def acosh(z):
    """Return ``cmath.acosh(z)`` per element of z, a NumPy scalar or lane vector, in z's dtype."""
    below, above = sqrt(from_parts(z.real - 1, z.imag)), sqrt(from_parts(z.real + 1, z.imag))
    real = np.arcsinh(below.real * above.real + below.imag * above.imag)
    imaginary = 2 * np.arctan2(below.imag, above.real)
    large = _is_large(z)
    return from_parts(
        np.where(large, _large_log(z), real).astype(z.real.dtype),
        np.where(large, phase(z), imaginary).astype(z.real.dtype),
    )


def asinh(z):
    """Return ``cmath.asinh(z)`` per element of z, a NumPy scalar or lane vector, in z's dtype."""
    first = sqrt(from_parts(1 + z.imag, -z.real))
    second = sqrt(from_parts(1 - z.imag, z.real))
    real = np.arcsinh(first.real * second.imag - second.real * first.imag)
    imaginary = np.arctan2(z.imag, first.real * second.real - first.imag * second.imag)
    large = _is_large(z)
    return from_parts(
        np.where(large, np.copysign(_large_log(z), z.real), real).astype(z.real.dtype),
        np.where(large, np.arctan2(z.imag, abs(z.real)), imaginary).astype(z.real.dtype),
    )


def acos(z):
    """Return ``cmath.acos(z)`` per element of z, a NumPy scalar or lane vector, in z's dtype."""
    below = sqrt(from_parts(1 - z.real, -z.imag))
    above = sqrt(from_parts(1 + z.real, z.imag))
    real = 2 * np.arctan2(below.real, above.real)
    imaginary = np.arcsinh(above.real * below.imag - above.imag * below.real)
    large = _is_large(z)
    return from_parts(
        np.where(large, np.arctan2(abs(z.imag), z.real), real).astype(z.real.dtype),
        np.where(large, np.copysign(_large_log(z), -z.imag), imaginary).astype(z.real.dtype),
    )


def _is_large(z):
    """Return True where a part of z exceeds HALF_LIMIT in absolute value."""
    return (abs(z.real) > HALF_LIMIT) | (abs(z.imag) > HALF_LIMIT)


def _large_log(z):
    """Return the real logarithm of twice the absolute value of a large complex number."""
    return np.log(np.hypot(z.real * 0.5, z.imag * 0.5)) + np.log(4.0)


def atanh(z):
    """Return ``cmath.atanh(z)`` per element of z, a NumPy scalar or lane vector, in z's dtype.

    The result is infinite for 1 and -1; nothing is raised.
    """
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
    result = from_parts(real, imaginary)
    return np.where(negative, -result, result).astype(z.dtype)[()]


def atan(z):
    """Return ``cmath.atan(z)`` per element of z, a NumPy scalar or lane vector, in z's dtype."""
    result = atanh(from_parts(-z.imag, z.real))
    undefined = np.isinf(z.real) & np.isnan(z.imag)
    imaginary = np.where(undefined, result.real, -result.real).astype(z.real.dtype)
    return from_parts(result.imag, imaginary)


def via_rotation(function: Callable) -> Callable:
    """Return a function that maps z to -j·function(j·z): sin from sinh, for example."""

    def rotated(z):
        result = function(from_parts(-z.imag, z.real))
        return from_parts(result.imag, -result.real)

    return rotated


def cos(z):
    """Return ``cmath.cos(z)`` per element of z, a NumPy scalar or lane vector, in z's dtype."""
    return cosh(from_parts(-z.imag, z.real))


def power(base, exponent):
    """Return ``base ** exponent`` of two complex numbers by Numba's formula, in base's dtype.

    The operands are NumPy scalars or lane vectors. The power 0 is 1 for every base. If the real
    parts of base and exponent are both 0, any other power is 0, as in Numba; nothing is raised.
    """
    magnitude = np.hypot(base.real, base.imag)
    length = np.power(magnitude, exponent.real)
    base_angle = np.arctan2(base.imag, base.real)
    angle = base_angle * exponent.real
    has_imaginary = exponent.imag != 0
    length = np.where(has_imaginary, length / np.exp(base_angle * exponent.imag), length)
    angle = np.where(has_imaginary, angle + exponent.imag * np.log(magnitude), angle)
    result = from_parts(length * np.cos(angle), length * np.sin(angle))
    result = np.where((base.real == 0) & (exponent.real == 0), 0, result)
    result = np.where((exponent.real == 0) & (exponent.imag == 0), 1, result)
    return result.astype(base.dtype)[()]
