"""An operation of the kernel's text on typed values: computed, counted, or refused."""

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


class Arithmetic:
    """The operations that one node of the syntax tree makes."""

    def __init__(self, source: Source, node: ast.AST):
        self._source = source
        self._node = node
        self._site = source.site(node)
        self._last: tuple = (None, None, None, None)  # function, two dtypes, what computes them

    def apply(self, function: Callable, values: tuple, frame: Frame, mask: Mask):
        """``function`` (an operator, or one of ``math`` and the like) of the values."""
        if len(values) == 2 and isinstance(values[0], Number) and isinstance(values[1], Number):
            result = self._of_two(function, *values)
        elif function in EQUALITY and all(isinstance(v, str | None) for v in values):
            return np.bool_(function(*values))
        elif function in EQUALITY and all(isinstance(v, tuple) for v in values):
            same = self._same_items(*values, frame, mask)
            return same if function is operator.eq else np.logical_not(same)
        elif not all(map(is_scalar, values)):
            raise self._refuse(f"{function.__name__}() of {' and '.join(map(described, values))}")
        else:
            result = self._prepared(function, values)(*values)
        if frame.run.counters and result.dtype.kind in "fc":
            frame.run.counters.operation(self._site, result.dtype, mask)
        return result

    def _of_two(self, function: Callable, left: Number, right: Number) -> Number:
        """An operation of two numbers; most are made again with the same types."""
        known, first, second, compute = self._last
        if known is not function or left.dtype is not first or right.dtype is not second:
            compute = self._prepared(function, (left, right))
            self._last = (function, left.dtype, right.dtype, compute)
        return compute(left, right)

    def _prepared(self, function: Callable, values: tuple) -> Callable:
        compute = operations.prepared(function, tuple([v.dtype for v in values]))
        if compute is None:
            kinds = ", ".join(str(v.dtype) for v in values)
            raise self._refuse(f"{function.__name__}() of {kinds}")
        return compute

    def _same_items(self, first: tuple, second: tuple, frame: Frame, mask: Mask):
        same = np.bool_(len(first) == len(second))
        if same:
            for pair in zip(first, second, strict=True):
                same = np.logical_and(same, self.apply(operator.eq, pair, frame, mask))
        return same

    def _refuse(self, what: str) -> Exception:
        return self._source.refuse(self._node, what)
