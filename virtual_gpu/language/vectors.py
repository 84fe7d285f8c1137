"""Compiles the calls that make named tuples and CUDA's vector types."""

from __future__ import annotations

import ast

import numpy as np
from numba.cuda.vector_types import vector_types

from ..types import numba_types
from ..types.tuples import vector_kind
from .call_expression import CallExpression
from .frame import Evaluate, is_scalar


def named_tuple(call: CallExpression) -> Evaluate:
    """Compile a call of a named tuple's class, such as ``Point(1, y=2)``.

    The closure returns an instance of the class. Raises Unsupported unless every field is given,
    even one with a default.
    """
    kind = call.function
    arguments = call.named(*kind._fields)
    if set(arguments) != set(kind._fields):
        raise call.refuse(f"a {kind.__name__} that is not given {', '.join(kind._fields)}")
    parts = [call.compiler.expression(arguments[name]) for name in kind._fields]
    return lambda frame, mask: kind(*(part(frame, mask) for part in parts))


def vector(call: CallExpression) -> Evaluate:
    """Compile a call of a CUDA vector type, such as ``cuda.float32x4(...)``.

    The arguments are numbers and shorter vectors, which together must have as many numbers as the
    result. The numbers are cast to the type's dtype.
    """
    numba_type = vector_types[call.function.__name__]
    kind, count = vector_kind(call.function.__name__), len(numba_type.attr_names)
    dtype = np.dtype(str(numba_type.base_type))
    arguments = call.arguments(1, count)

    def evaluate(frame, mask):
        numbers = []
        for argument in arguments:
            value = argument(frame, mask)
            numbers += value if isinstance(value, tuple) else [value]
        if len(numbers) != count or not all(map(is_scalar, numbers)):
            raise call.refuse(f"{ast.unparse(call.node)}, which is not made of {count} numbers,")
        return kind(*(numba_types.cast(number, dtype) for number in numbers))

    return evaluate
