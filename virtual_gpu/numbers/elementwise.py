"""Functions that NumPy does not have, on vectors of lanes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np


def elementwise(function: Callable) -> Callable:
    """Return a function that applies a function of ``math`` to lane vectors or scalars.

    Its result is float64. Outside of the domain it is NaN, as on a GPU, and after an overflow
    positive infinity.
    """

    def safe(*values: float) -> float:
        try:
            return function(*values)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    on_lanes = np.vectorize(safe, otypes=[np.float64])
    return lambda *values: on_lanes(*values)[()]  # [()] makes a scalar of an array of rank 0


def gamma(x):
    """Return CUDA's ``tgamma(x)`` in float64, which is an infinity with the sign of x at zero.

    It is NaN at the negative integers and at -infinity.
    """
    zero = np.copysign(np.inf, x)
    return np.where(x == 0, zero, elementwise(math.gamma)(x))[()]


def log_gamma(x):
    """Return CUDA's ``lgamma(x)`` in float64.

    It is infinity at zero, at the negative integers and at both infinities.
    """
    pole = (x <= 0) & (np.floor(x) == x)
    return np.where(pole, np.inf, elementwise(math.lgamma)(x))[()]
