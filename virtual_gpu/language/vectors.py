"""Compiles the calls that make named tuples and CUDA's vector types, and that move vectors."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba.cuda.vector_types import vector_types

from ..machine.access import load_wide, store_wide
from ..machine.place import Place
from ..memory.memory import ArrayView
from ..types import numba_types
from ..types.tuples import vector_kind
from .call_expression import CallExpression
from .frame import Evaluate, Frame, is_scalar


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
    result. The closure returns a named tuple of these numbers, cast to the type's dtype.
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


def load(call: CallExpression) -> Evaluate:
    """Compile ``vector.load(array, indices, shape, alignment)``, which returns a vector.

    ``shape``, the number of elements, and ``alignment``, in bytes, are constants. One instruction
    moves as many bytes as the alignment allows; without one, each element has its own.
    """
    arguments = call.named("array", "indices", "shape", "alignment")
    move = _Move.of(call, arguments)
    shape = call.literal(arguments["shape"])

    def evaluate(frame, mask):
        array, first = move.start(frame, mask)
        count = shape(frame)
        count = count[0] if isinstance(count, tuple) and len(count) == 1 else count
        kind = _vector_of(call, array, count)
        step = move.step(frame, array, count)
        parts = [
            load_wide(Place(frame.run, array, _moved(first, n), mask, call.site), step, step > 1)
            for n in range(0, count, step)
        ]
        return kind(*(number for part in parts for number in part))

    return evaluate


def store(call: CallExpression) -> Evaluate:
    """Compile ``vector.store(array, index, vector, alignment)``, which returns None.

    The closure raises Unsupported if the value is no vector. One instruction moves as many bytes as
    the alignment, a constant, allows; without one, each element has its own.
    """
    arguments = call.named("array", "index", "vector", "alignment")
    move = _Move.of(call, arguments)
    vector = call.compiler.expression(arguments["vector"])

    def evaluate(frame, mask):
        array, first = move.start(frame, mask)
        values = vector(frame, mask)
        if not isinstance(values, tuple):
            raise call.refuse(f"{ast.unparse(call.node)}, whose value is no vector,")
        step = move.step(frame, array, len(values))
        for n in range(0, len(values), step):
            place = Place(frame.run, array, _moved(first, n), mask, call.site)
            store_wide(place, values[n : n + step], step > 1)

    return evaluate


@dataclass(frozen=True)
class _Move:
    """A call that moves a vector between an array and the kernel.

    ``array`` and ``index`` are closures that evaluate the array and the index of the first element.
    ``alignment(frame)`` returns the alignment in bytes, or None if the call has none.
    """

    call: CallExpression
    array: Evaluate
    index: Evaluate
    alignment: Callable[[Frame], int | tuple | None]

    @classmethod
    def of(cls, call: CallExpression, arguments: dict[str, ast.expr]) -> _Move:
        """Return the _Move of a call, whose ``arguments`` are by parameter name, in order.

        Raises Unsupported unless all parameters but ``alignment``, of which there are three, have
        an argument.
        """
        if len(arguments.keys() - {"alignment"}) != 3:
            raise call.refuse(f"{ast.unparse(call.node)}, called with these arguments,")
        array, index, _ = (call.compiler.expression(a) for a in list(arguments.values())[:3])
        aligned = arguments.get("alignment")
        return cls(call, array, index, call.literal(aligned) if aligned else lambda frame: None)

    def start(self, frame: Frame, mask) -> tuple[ArrayView, tuple]:
        """Return the array and the indices of the first element.

        Raises Unsupported for an array in local memory and for another number of indices than
        dimensions.
        """
        array, index = self.array(frame, mask), self.index(frame, mask)
        indices = index if isinstance(index, tuple) else (index,)
        if not isinstance(array, ArrayView) or len(indices) != len(array.shape):
            raise self.call.refuse(
                f"{ast.unparse(self.call.node)}, which needs an array in global or shared memory "
                "and one index per dimension,"
            )
        return array, indices

    def step(self, frame: Frame, array: ArrayView, count: int) -> int:
        """Return the number of elements that one instruction moves: at most ``count`` or 16 bytes.

        Without an alignment it is 1.
        """
        bytes_at_once = min(self.alignment(frame) or 1, 16)
        return min(count, max(1, bytes_at_once // array.dtype.itemsize))


def _moved(indices: tuple, by: int) -> tuple:
    """Return the indices of the element ``by`` elements further in the last dimension."""
    return (*indices[:-1], indices[-1] + by) if by else indices


def _vector_of(call: CallExpression, array: ArrayView, count) -> type:
    """Return the vector type with ``count`` elements of an array.

    Raises Unsupported for a number of elements, or a dtype, of which CUDA has no vector type.
    """
    try:
        return vector_kind(f"{array.dtype}x{count}")
    except KeyError:
        raise call.refuse(f"a vector of {count} elements of {array.dtype}") from None
