"""An operation of the kernel's text on typed values: computed, counted, or refused."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

import numpy as np

from . import operations
from .frame import Frame, is_scalar
from .lanes import Mask
from .source import Source

EQUALITY = (operator.eq, operator.ne)


class Arithmetic:
    """The operations that one node of the syntax tree makes."""

    def __init__(self, source: Source, node: ast.AST):
        self._source = source
        self._node = node
        self._site = source.site(node)

    def apply(self, function: Callable, values: tuple, frame: Frame, mask: Mask):
        """``function`` (an operator, or one of ``math`` and the like) of the values."""
        if function in EQUALITY and all(isinstance(v, str | None) for v in values):
            return np.bool_(function(*values))
        if function in EQUALITY and all(isinstance(v, tuple) for v in values):
            same = self._same_items(*values, frame, mask)
            return same if function is operator.eq else np.logical_not(same)
        if not all(map(is_scalar, values)):
            raise self._refuse(f"{function.__name__}() of these operands")
        if function is round and len(values) == 2 and isinstance(values[1], np.ndarray):
            raise self._refuse("round() to digits that differ by thread")
        result = operations.apply(function, values)
        if result is None:
            kinds = ", ".join(str(v.dtype) for v in values)
            raise self._refuse(f"{function.__name__}() of {kinds}")
        if frame.run.counters and result.dtype.kind in "fc":
            frame.run.counters.operation(self._site, result.dtype, mask)
        return result

    def _same_items(self, first: tuple, second: tuple, frame: Frame, mask: Mask):
        same = np.bool_(len(first) == len(second))
        if same:
            for pair in zip(first, second, strict=True):
                same = np.logical_and(same, self.apply(operator.eq, pair, frame, mask))
        return same

    def _refuse(self, what: str) -> Exception:
        return self._source.refuse(self._node, what)
