"""Compute the constants of a submission from their text: numbers, types and tuples of them.

Only operators and the functions listed here are executed, and only on small numbers. So nothing of
the submission's Python runs, and no result is large.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numba import types

from labs.grading import allow_list
from labs.grading.allow_list import NotAllowed
from labs.numbers.evaluator import OPERATORS

FUNCTIONS = {
    "abs": abs, "bool": bool, "divmod": divmod, "float": float, "int": int, "len": len, "max": max,
    "min": min, "pow": pow, "round": round, "sum": sum,
}  # fmt: skip
MATH = frozenset({"ceil", "floor", "gcd", "isqrt", "log", "log2", "pow", "sqrt", "trunc"})
NOT_FINITE = ("inf", "-inf", "+inf", "nan")  # the only texts, as in `float("-inf")`
LARGEST_EXPONENT = 64
NUMBERS = (int, float, np.number, np.bool_)


@dataclass(frozen=True)
class Module:
    """A module, as the value of a name in a submission.

    name: the module's full name, a key of `allow_list.MODULES`.
    """

    name: str


@dataclass(frozen=True)
class Unknown:
    """The value of a name in a submission whose value cannot be used.

    why: the reason, as a sentence.
    """

    why: str


def constant(node: ast.expr, value_of: Callable[[str], object]) -> object:
    """Return the value of an expression of numbers, types and tuples of them.

    Raises NotAllowed for any other expression, and Python's own error, such as ZeroDivisionError,
    for an expression without a value. value_of: returns the value of a name, or None if it is
    unknown.
    """
    evaluate = EXPRESSIONS.get(type(node))
    if evaluate is None:
        raise NotAllowed("no constant")
    return evaluate(node, value_of)


def whole_numbers(node: ast.expr, value_of: Callable[[str], object]) -> tuple[int, ...]:
    """Return the values of a list or tuple expression of whole numbers, such as an order of lines.

    value_of: returns the value of a name, or None if it is unknown. Raises NotAllowed for anything
    else.
    """
    if not isinstance(node, ast.List | ast.Tuple):
        raise NotAllowed("no list")
    values = tuple(constant(part, value_of) for part in node.elts)
    if any(type(value) is not int for value in values):
        raise NotAllowed("no whole number")
    return values


def modules_in(node: ast.AST, value_of: Callable[[str], object]) -> dict[str, str]:
    """Return a dict from each name in an expression that is a module to the module's full name.

    value_of: returns the value of a name, or None if it is unknown.
    """
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    values = {name: value_of(name) for name in names}
    return {name: value.name for name, value in values.items() if isinstance(value, Module)}


def _literal(node: ast.Constant, value_of) -> object:
    """Return the value of a literal number. Raises NotAllowed if it is none or is too large."""
    return _small(node.value)


def _name(node: ast.Name, value_of) -> object:
    """Return the value of a name. Raises NotAllowed if it is unknown or a module."""
    value = value_of(node.id)
    if value is None or isinstance(value, Module | Unknown):
        raise NotAllowed("no constant")
    return value


def _tuple(node: ast.Tuple, value_of) -> tuple:
    """Return the values of the parts of a tuple expression, as a tuple.

    value_of: returns the value of a name, or None if it is unknown.
    """
    return tuple(constant(part, value_of) for part in node.elts)


def _unary(node: ast.UnaryOp, value_of) -> object:
    """Return the value of an operation with one operand, such as -x.

    value_of: returns the value of a name, or None if it is unknown. Raises NotAllowed if the
    operand is no number, or if the result is too large.
    """
    return _small(OPERATORS[type(node.op)](_number(constant(node.operand, value_of))))


def _binary(node: ast.BinOp, value_of) -> object:
    """Return the value of an operation with two operands, such as x + y.

    value_of: returns the value of a name, or None if it is unknown. Raises NotAllowed if an operand
    is no number, if the operator is unknown, or if the result is too large.
    """
    left, right = (_number(constant(part, value_of)) for part in (node.left, node.right))
    return _applied(node.op, left, right)


def _applied(op: ast.operator, left, right) -> object:
    """Return the result of an operator on two numbers.

    Raises NotAllowed if the operator is unknown, or if the exponent or the result is too large.
    """
    if isinstance(op, ast.Pow | ast.LShift) and abs(right) > LARGEST_EXPONENT:
        raise NotAllowed("too large")
    if type(op) not in OPERATORS:
        raise NotAllowed("no constant")
    return _small(OPERATORS[type(op)](left, right))


def _boolean(node: ast.BoolOp, value_of) -> object:
    """Return the value of a chain of `and`, or of `or`: that of the operand at which Python stops.

    value_of: returns the value of a name, or None if it is unknown. Raises NotAllowed if an operand
    up to there is no number.
    """
    stops_at = isinstance(node.op, ast.Or)
    for part in node.values:
        value = _number(constant(part, value_of))
        if bool(value) == stops_at:
            break
    return value


def _compare(node: ast.Compare, value_of) -> bool:
    """Return True if a comparison holds, also a chain such as a < b < c.

    Raises NotAllowed for `is` and `in`, and for operands that are no numbers. value_of: returns the
    value of a name, or None if it is unknown.
    """
    values = [_number(constant(one, value_of)) for one in (node.left, *node.comparators)]
    if any(type(op) not in OPERATORS for op in node.ops):
        raise NotAllowed("no constant")
    pairs = zip(node.ops, values, values[1:], strict=False)
    return all(OPERATORS[type(op)](left, right) for op, left, right in pairs)


def _conditional(node: ast.IfExp, value_of) -> object:
    """Return the value of an expression `x if test else y`.

    Only the chosen one of x and y is computed. value_of: returns the value of a name, or None if it
    is unknown. Raises NotAllowed if the test is no number.
    """
    test = _number(constant(node.test, value_of))
    return constant(node.body if test else node.orelse, value_of)


def _subscript(node: ast.Subscript, value_of) -> object:
    """Return the element of a tuple at a whole-number index, in an expression such as `SIZES[1]`.

    value_of: returns the value of a name, or None if it is unknown. Raises NotAllowed for other
    values and for slices, and IndexError if the tuple has no such element.
    """
    whole, index = constant(node.value, value_of), constant(node.slice, value_of)
    if not isinstance(whole, tuple) or not isinstance(index, int):
        raise NotAllowed("no constant")
    return whole[index]


def _attribute(node: ast.Attribute, value_of) -> object:
    """Return the allowed member of a module. Raises NotAllowed for any other attribute.

    value_of: returns the value of a name, or None if it is unknown.
    """
    module = allow_list.module_of(node.value, modules_in(node.value, value_of))
    if module and node.attr in allow_list.COMPILED.members.get(module, ()):
        return getattr(allow_list.MODULES[module], node.attr)
    raise NotAllowed("no constant")


def _call(node: ast.Call, value_of) -> object:
    """Return the result of a call of one of the known functions with constant arguments.

    Raises NotAllowed for keywords, for an unknown function, for a result that is too large, and for
    arguments that are no numbers. Tuples of numbers are allowed for `len`, `max`, `min` and `sum`,
    and a text of NOT_FINITE for `float`, as in `float("inf")`. value_of: returns the value of a
    name, or None if it is unknown.
    """
    if node.keywords:
        raise NotAllowed("no constant")
    function = _function_of(node.func, value_of)
    if function is float and len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
        text = node.args[0].value
        if text in NOT_FINITE:
            return float(text)
    values = [constant(part, value_of) for part in node.args]
    of_tuples = any(function is one for one in (len, max, min, sum))
    for value in values:
        for one in value if of_tuples and isinstance(value, tuple) else [value]:
            _number(one)
    if function is pow:
        left, right = values
        return _applied(ast.Pow(), left, right)
    if function is round:
        (value,) = values
        return _small(round(value))
    result = function(*values)
    return tuple(map(_small, result)) if isinstance(result, tuple) else _small(result)


def _function_of(node: ast.expr, value_of) -> Callable:
    """Return the callable to which the called expression of a constant refers.

    It is a function of FUNCTIONS or of MATH, or a number type of NumPy or Numba. Raises NotAllowed
    for any other expression. value_of: returns the value of a name, or None if it is unknown.
    """
    if isinstance(node, ast.Name) and value_of(node.id) is None and node.id in FUNCTIONS:
        return FUNCTIONS[node.id]
    function = constant(node, value_of)
    in_math = any(function is getattr(math, name) for name in MATH)
    of_numpy = isinstance(function, type) and issubclass(function, np.number | np.bool_)
    if in_math or of_numpy or isinstance(function, types.Number | types.Boolean):
        return function
    raise NotAllowed("no constant")


def _number(value: object) -> object:
    """Return the value unchanged. Raises NotAllowed if it is no number of Python or NumPy."""
    if not isinstance(value, NUMBERS):
        raise NotAllowed("no number")
    return value


def _small(value: object) -> object:
    """Return the number unchanged.

    Raises NotAllowed if it is no number, or if it is an integer beyond 63 bits.
    """
    number = _number(value)
    if isinstance(number, int) and abs(number) >= allow_list.LARGEST:
        raise NotAllowed("too large")
    return number


EXPRESSIONS: Mapping[type, Callable] = {
    ast.Constant: _literal,
    ast.Name: _name,
    ast.Tuple: _tuple,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.Subscript: _subscript,
    ast.Attribute: _attribute,
    ast.Call: _call,
}
