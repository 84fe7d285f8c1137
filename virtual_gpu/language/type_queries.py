"""Compiles ``isinstance`` and ``hasattr``, whose answers do not differ by thread."""

from __future__ import annotations

import ast

import numpy as np
from numba.core import types

from ..memory.memory import Array
from .attributes import attribute_of
from .call_expression import CallExpression
from .frame import Evaluate, described, is_scalar
from .inference import type_of

_KINDS = {
    int: types.Integer,
    float: types.Float,
    complex: types.Complex,
    bool: types.Boolean,
    tuple: types.BaseTuple,
    str: types.UnicodeType,
}


def is_instance(call: CallExpression) -> Evaluate:
    """Compile ``isinstance(value, type)`` or ``isinstance(value, (type, type))``.

    The types are those of Python, or number types of NumPy and Numba; others raise Unsupported. The
    closure returns a NumPy bool.
    """
    argument, _ = call.arguments(2)
    wanted = call.compiler.try_static(call.node.args[1])
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    tests = [_test(call, kind) for kind in wanted]

    def evaluate(frame, mask):
        kind = type_of(argument(frame, mask))
        return np.bool_(any(test(kind) for test in tests))

    return evaluate


def _test(call: CallExpression, wanted):
    """Return ``test(kind)``, which is True if the Numba type ``kind`` is an instance of ``wanted``.

    Literal types count as the types of their values. Raises Unsupported unless ``wanted`` is a type
    of Python that kernels have, or a number type of NumPy or Numba.
    """
    if isinstance(wanted, type) and wanted in _KINDS:
        return lambda kind: isinstance(types.unliteral(kind), _KINDS[wanted])
    if isinstance(wanted, types.Type):
        return lambda kind: types.unliteral(kind) == wanted
    if isinstance(wanted, type) and issubclass(wanted, np.generic):
        number = getattr(types, wanted.__name__, None)
        if isinstance(number, types.Type):
            return lambda kind: types.unliteral(kind) == number
    raise call.refuse(f"{ast.unparse(call.node)}, which asks for another type,")


def has_attribute(call: CallExpression) -> Evaluate:
    """Compile ``hasattr(value, "name")`` with a constant name; any other name raises Unsupported.

    The attributes are those that ``attribute_of`` knows, such as ``shape``. The closure returns a
    NumPy bool. It raises Unsupported for a value that is no number, array or tuple.
    """
    argument, _ = call.arguments(2)
    name = call.compiler.try_static(call.node.args[1])
    if not isinstance(name, str):
        raise call.refuse("hasattr() with a name that is no constant string")

    def evaluate(frame, mask):
        value = argument(frame, mask)
        if not (is_scalar(value) or isinstance(value, Array | tuple)):
            raise call.refuse(f"hasattr() of {described(value)}")
        return np.bool_(attribute_of(value, name) is not None)

    return evaluate


def slice_object(call: CallExpression) -> Evaluate:
    """Compile ``slice`` with one to three arguments as in Python, to be used as an index.

    The closure returns a Python slice of the arguments' values. It raises Unsupported if the step
    differs by thread.
    """
    parts = call.arguments(1, 3)

    def evaluate(frame, mask):
        bounds = [part(frame, mask) for part in parts]
        if len(bounds) == 3 and isinstance(bounds[2], np.ndarray):
            raise call.refuse("a slice whose step differs by thread")
        return slice(*bounds)

    return evaluate
