"""Evaluates the operators of a kernel on typed values, and counts floating-point operations."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

import numpy as np

from ..common.lanes import Mask
from ..common.source import Source
from ..numbers import operations
from ..types.numba_types import Number
from .frame import Frame, described, is_scalar

EQUALITY = (operator.eq, operator.ne)
ORDER = (operator.lt, operator.le, operator.gt, operator.ge)


class Arithmetic:
    """Evaluates one operation of the kernel's text, a node of its syntax tree."""

    def __init__(self, source: Source, node: ast.AST):
        self._source = source
        self._node = node
        self._site = source.site(node)
        # Of the last call with two numbers: function, both dtypes, the typed implementation.
        self._last: tuple = (None, None, None, None)

    def apply(self, function: Callable, values: tuple, frame: Frame, mask: Mask):
        """Return ``function(*values)`` in Numba's types, a NumPy scalar or a lane vector.

        ``function`` is one of ``operator``, ``math`` or NumPy. The values are numbers. ``==`` and
        ``!=`` also take two tuples, and strings and None; ``<``, ``<=``, ``>`` and ``>=`` also take
        two tuples that are not empty. If the run counts operations and the result is a float or
        complex number, one operation is counted in the lanes of ``mask``.
        Raises Unsupported for other values and for dtypes that Numba refuses.
        """
        if len(values) == 2 and isinstance(values[0], Number) and isinstance(values[1], Number):
            result = self._apply_to_two(function, *values)
        elif function in EQUALITY and all(isinstance(v, str | None) for v in values):
            return np.bool_(function(*values))
        elif function in EQUALITY and all(isinstance(v, tuple) for v in values):
            equal = self._tuples_equal(*values, frame, mask)
            return equal if function is operator.eq else np.logical_not(equal)
        elif function in ORDER and all(isinstance(v, tuple) and v for v in values):
            return self._tuples_ordered(function, *values, frame, mask)
        elif not all(map(is_scalar, values)):
            raise self._refuse(f"{function.__name__}() of {' and '.join(map(described, values))}")
        else:
            result = self._implementation(function, values)(*values)
        if frame.run.counters and result.dtype.kind in "fc":
            frame.run.counters.operation(self._site, result.dtype, mask)
        return result

    def _apply_to_two(self, function: Callable, left: Number, right: Number) -> Number:
        """Return ``function(left, right)`` in the dtype that Numba gives it.

        The typed implementation of the previous call is used again if function and dtypes are the
        same. Raises Unsupported if Numba refuses the dtypes.
        """
        last_function, first, second, compute = self._last
        if last_function is not function or left.dtype is not first or right.dtype is not second:
            compute = self._implementation(function, (left, right))
            self._last = (function, left.dtype, right.dtype, compute)
        return compute(left, right)

    def _implementation(self, function: Callable, values: tuple) -> Callable:
        """Return the function that computes ``function`` on the dtypes of these values.

        Raises Unsupported if Numba refuses the dtypes.
        """
        compute = operations.prepared(function, tuple([v.dtype for v in values]))
        if compute is None:
            kinds = ", ".join(str(v.dtype) for v in values)
            raise self._refuse(f"{function.__name__}() of {kinds}")
        return compute

    def _tuples_equal(self, first: tuple, second: tuple, frame: Frame, mask: Mask):
        """Return whether two tuples are equal: a NumPy bool, or a boolean vector of lanes."""
        equal = np.bool_(len(first) == len(second))
        if equal:
            for pair in zip(first, second, strict=True):
                equal = np.logical_and(equal, self.apply(operator.eq, pair, frame, mask))
        return equal

    def _tuples_ordered(self, function: Callable, first: tuple, second: tuple, *where):
        """Return ``function(first, second)`` of two tuples, compared item by item as in Python.

        ``function`` is ``<``, ``<=``, ``>`` or ``>=`` of ``operator``, and ``where`` is the frame
        and the mask of ``apply``. The result is a NumPy bool, or a boolean vector of lanes.
        """
        if not (len(first) and len(second)):
            return np.bool_(function(len(first), len(second)))
        strict = operator.lt if function in (operator.lt, operator.le) else operator.gt
        rest = self._tuples_ordered(function, first[1:], second[1:], *where)
        pair = first[0], second[0]
        equal = np.logical_and(self.apply(operator.eq, pair, *where), rest)
        return np.logical_or(self.apply(strict, pair, *where), equal)

    def _refuse(self, what: str) -> Exception:
        """Return an Unsupported error which says that the virtual GPU does not know ``what``.

        The caller raises it. ``what`` is a noun phrase.
        """
        return self._source.refuse(self._node, what)
