"""Evaluates constant expressions of a kernel at compile time, and converts constants to values."""

from __future__ import annotations

import ast
import difflib
import inspect
import operator
from collections.abc import Callable

import numpy as np
from numba.core import types
from numba.np.numpy_support import as_dtype

from ..common.source import Source, assigned_names
from ..memory.memory import constant_array
from ..numbers import operations
from ..types import numba_types
from ..types.tuples import alike
from . import intrinsics
from .coordinates import special_value
from .cures import meant_by
from .frame import Frame

GROWING = (operator.pow, operator.lshift)  # their results can be far longer than their operands


class NotStatic(Exception):
    """Raised for an expression whose value is known only when the kernel runs."""


class ConstantEvaluator:
    """Evaluates the constant expressions of one function."""

    def __init__(self, source: Source):
        self._source = source
        self._local = assigned_names(source.tree)

    def value(self, node: ast.expr):
        """Return the Python value of a constant expression.

        Constants are literals, names from outside of the function, their attributes, tuples of
        constants, ``np.iinfo`` and ``np.finfo`` of a dtype, arithmetic of integers, ``-number`` and
        the concatenation of two strings. Raises NotStatic for any other expression, such as one
        with a variable, a method of an array or a field of ``cuda.threadIdx``. Raises Unsupported
        for a name or an attribute that does not exist.
        """
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            if node.id in self._local:
                raise NotStatic
            if node.id not in self._source.names:
                raise self._source.undefined(node, meant_by(node.id))
            return self._source.names[node.id]
        if isinstance(node, ast.Attribute):
            base = self.value(node.value)
            if isinstance(base, tuple) and node.attr == "index":
                raise NotStatic
            if _is_array(base) and callable(getattr(base, node.attr, len)):
                raise NotStatic  # a method, or an attribute that only arrays of a kernel have
            if not hasattr(base, node.attr):
                raise self._source.refuse(node, _misspelt(node, base))
            if special_value(base):
                raise NotStatic
            return getattr(base, node.attr)
        if isinstance(node, ast.Tuple):
            items = tuple(self.value(e) for e in node.elts)
            if any(map(special_value, items)):
                raise NotStatic
            return items
        if isinstance(node, ast.Call):
            return self._limits_of_type(node)
        return self._arithmetic(node)

    def _limits_of_type(self, node: ast.Call):
        """Return the NumPy object that ``np.iinfo(dtype)`` or ``np.finfo(dtype)`` returns.

        Raises NotStatic for any other call, and for a dtype for which NumPy has no such object.
        """
        named = isinstance(node.func, ast.Attribute) and node.func.attr in ("iinfo", "finfo")
        function = self.value(node.func) if named else None
        if function not in (np.iinfo, np.finfo) or len(node.args) != 1 or node.keywords:
            raise NotStatic
        dtype = self.value(node.args[0])
        try:
            return function(as_dtype(dtype) if isinstance(dtype, types.Type) else dtype)
        except (TypeError, ValueError):
            raise NotStatic from None

    def literal(self, node: ast.expr) -> Callable[[Frame], types.Type | None]:
        """Return ``kind(frame)``, which returns Numba's literal type of an expression.

        It returns None if Numba does not know the value at compile time. Numba knows a number, the
        name of a number, and a variable that only ever holds one number.
        """
        written = self._written(node)
        return lambda frame: frame.types.literals.get(node, written)

    def _written(self, node: ast.expr) -> types.Type | None:
        """Return the literal type that the expression's text alone determines, else None.

        It does so for integers, names of constant integers, and tuples of them. Arithmetic of
        numbers counts, because Python folds it, but arithmetic with names does not.
        """
        if _is_computed(node):
            return None
        try:
            value = self.value(node)
        except NotStatic:
            return None
        return numba_types.literal(value)

    def _arithmetic(self, node: ast.expr):
        """Return the value of integer arithmetic, as in ``(TILE, TILE + 1)``.

        ``-number`` and the concatenation of two strings have a value, too. Raises NotStatic for any
        other expression, and for a result that is undefined or does not fit into an int64.
        """
        if isinstance(node, ast.BinOp) and type(node.op) in operations.BINARY:
            left, right = self.value(node.left), self.value(node.right)
            if type(left) is str and type(right) is str and isinstance(node.op, ast.Add):
                return left + right
            if type(left) is int and type(right) is int:
                return _folded(operations.BINARY[type(node.op)], left, right)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.value(node.operand)
            if type(value) in (int, float):
                return -value
        raise NotStatic

    def in_kernel(self, node: ast.expr, value):
        """Return a Python constant, written as ``node``, as a value of the kernel.

        Numbers become NumPy scalars, NumPy arrays become constant arrays, and tuples are converted
        item by item. None, Ellipsis, strings, bytes, dtypes, types, the objects of ``np.iinfo`` and
        ``np.finfo``, and functions that a kernel can call stay as they are. Raises Unsupported for
        any other constant.
        """
        if isinstance(value, bool | int | float | complex | np.generic):
            return numba_types.scalar(value)
        if isinstance(value, tuple):
            return alike(value, (self.in_kernel(node, v) for v in value))
        if isinstance(value, np.ndarray):
            return constant_array(ast.unparse(node), value)
        if value is None or value is Ellipsis:
            return value
        if isinstance(value, str | bytes | np.dtype | np.iinfo | np.finfo | type | types.Type):
            return value
        if intrinsics.device_function(value) is not None or intrinsics.handler_of(value):
            return value
        raise self._source.refuse(node, f"{ast.unparse(node)} ({type(value).__name__})")


def _is_array(value) -> bool:
    """Return True for a NumPy array or a device array."""
    return isinstance(value, np.ndarray) or getattr(value, "__cuda_ndarray__", False)


def _misspelt(node: ast.Attribute, owner: object) -> str:
    """Return a description of a missing attribute for an error message.

    It is the text of ``node``. If ``owner`` is a module, the description continues: ``math.sine,
    which math does not have (is math.sin meant?),``. Without a similar name in the module, the
    brackets are left out.
    """
    if not inspect.ismodule(owner):
        return ast.unparse(node)
    near = difflib.get_close_matches(node.attr, dir(owner), 1)
    meant = f" (is {ast.unparse(node.value)}.{near[0]} meant?)" if near else ""
    return f"{ast.unparse(node)}, which {owner.__name__} does not have{meant},"


def _bits_of_result(function: Callable, left: int, right: int) -> int:
    """Return an estimate of the number of bits of ``left ** right`` or ``left << right``.

    The result itself is not computed, because it may be huge.
    """
    if function is operator.lshift:
        return left.bit_length() + max(right, 0)
    return (abs(left).bit_length() - 1) * max(right, 0)


def _is_computed(node: ast.expr) -> bool:
    """Return True if an expression contains a call or a binary operation that involves a name.

    A sign before a name, as in ``-N``, is no binary operation.
    """
    calculations = [n for n in ast.walk(node) if isinstance(n, ast.BinOp | ast.Call)]
    return any(isinstance(n, ast.Name) for c in calculations for n in ast.walk(c))


def _folded(function: Callable, left: int, right: int):
    """Return ``function(left, right)`` for two Python integers.

    Raises NotStatic if the result is undefined or is an integer that does not fit into an int64.
    """
    if function in GROWING and _bits_of_result(function, left, right) > 64:
        raise NotStatic
    try:
        value = function(left, right)
    except (ArithmeticError, ValueError):
        raise NotStatic from None
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise NotStatic
    return value
