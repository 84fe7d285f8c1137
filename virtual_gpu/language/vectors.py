"""Calls that make tuples with names, and CUDA's vector types."""

from __future__ import annotations

import ast

import numpy as np
from numba.cuda.vector_types import vector_types

from ..types import numba_types
from ..types.tuples import vector_kind
from .call import Call
from .frame import Evaluate, is_scalar


def named_tuple(call: Call) -> Evaluate:
    """``Point(1, y=2)``."""
    kind = call.function
    given = call.named(*kind._fields)
    if set(given) != set(kind._fields):
        raise call.refuse(f"a {kind.__name__} that is not given {', '.join(kind._fields)}")
    parts = [call.compiler.expression(given[name]) for name in kind._fields]
    return lambda frame, mask: kind(*(part(frame, mask) for part in parts))


def vector(call: Call) -> Evaluate:
    """``cuda.float32x4(...)`` of numbers and of shorter vectors."""
    of_numba = vector_types[call.function.__name__]
    kind, count = vector_kind(call.function.__name__), len(of_numba.attr_names)
    dtype = np.dtype(str(of_numba.base_type))
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
