"""Compiles calls of NumPy's ufuncs, on numbers or on arrays.

Each thread computes all elements of an array, as in Numba.
"""

from __future__ import annotations

import numpy as np

from ..common.lanes import Mask
from ..machine.access import load, store
from ..machine.place import Place
from ..memory.memory import Array, ArrayView
from .arithmetic import Arithmetic
from .call_expression import CallExpression
from .frame import Evaluate, Frame, is_scalar


def ufunc(call: CallExpression) -> Evaluate:
    """Compile ``np.sin(x)`` of a number, or ``np.sin(x, out)`` of a number or an array.

    The former returns a number in Numba's type. The latter computes every element, stores it in the
    array ``out`` and returns ``out``. The closure raises Unsupported for arguments that do not fit.
    """
    function = call.function
    arguments = call.arguments(function.nin, function.nargs)
    apply, site = Arithmetic(call.source, call.node).apply, call.site

    def evaluate(frame: Frame, mask: Mask):
        values = [a(frame, mask) for a in arguments]
        if len(values) == function.nin and all(map(is_scalar, values)):
            return apply(function, tuple(values), frame, mask)
        out = values[-1]
        _check(call, values, out)
        for position in np.ndindex(*out.shape):
            operands = tuple(
                _element(frame, value, position, mask, site) for value in values[: function.nin]
            )
            result = apply(function, operands, frame, mask)
            if result.dtype.kind == "c" != out.dtype.kind:
                raise call.refuse(f"a result of type {result.dtype} in an array of {out.dtype}")
            store(Place(frame.run, out, _indices(position), mask, site), result)
        return out

    return evaluate


def _check(call: CallExpression, values: list, out) -> None:
    """Raise Unsupported unless ``out``, the last of ``values``, can take the results of the ufunc.

    It must be an array that is not read-only, in the shape to which the arrays among the values
    broadcast; that shape must not differ by thread. Every other value must be a number or an array.
    """
    if not isinstance(out, Array) or len(values) != call.function.nargs:
        raise call.refuse(f"np.{call.function.__name__}() of an array without an array for results")
    if isinstance(out, ArrayView) and not out.writable:
        raise call.refuse(f"storing to the read-only array {out.name}")
    arrays = [value for value in values if isinstance(value, Array)]
    if any(isinstance(extent, np.ndarray) for array in arrays for extent in array.shape):
        raise call.refuse("a ufunc of an array whose shape differs by thread")
    if not all(is_scalar(v) or isinstance(v, Array) for v in values):
        raise call.refuse(f"np.{call.function.__name__}() of these values")
    try:
        fits = np.broadcast_shapes(*(array.shape for array in arrays)) == tuple(out.shape)
    except ValueError:
        fits = False
    if not fits:
        shapes = ", ".join(str(tuple(array.shape)) for array in arrays)
        raise call.refuse(f"np.{call.function.__name__}() of arrays of the shapes {shapes}")


def _element(frame: Frame, value, position: tuple, mask: Mask, site):
    """Return the element of an array that broadcasting assigns to a position of the result.

    A value that is no array is returned unchanged.
    """
    if not isinstance(value, Array):
        return value
    own = position[len(position) - len(value.shape) :]
    indices = tuple(0 if extent == 1 else p for p, extent in zip(own, value.shape, strict=True))
    return load(Place(frame.run, value, _indices(indices), mask, site))


def _indices(position: tuple[int, ...]) -> tuple:
    """Return a position as a tuple of int64 scalars, the indices of a Place."""
    return tuple(np.int64(p) for p in position)
