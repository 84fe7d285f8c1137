"""Reductions of whole arrays, such as ``x.sum()`` and ``np.mean(x)``, computed by each thread."""

from __future__ import annotations

import ast
import functools
import inspect
import operator
from collections.abc import Callable

import numpy as np

from ..common.lanes import Mask
from ..machine.access import load
from ..machine.parts import elements
from ..machine.place import Place
from ..memory.memory import Array
from ..numbers import operations
from ..types import numba_types, overloads
from .arithmetic import Arithmetic
from .call_expression import CallExpression, Handler
from .frame import Evaluate, Frame
from .inference import type_of


def by_overload(call: CallExpression, function: Callable, values: tuple, frame: Frame, mask: Mask):
    """Return the result of Numba's Python implementation of ``function`` for these values.

    The implementation is compiled and run in the lanes of ``mask``. Raises Unsupported if Numba has
    none for the types of the values.
    """
    python = overloads.implementation(function, tuple(map(type_of, values)), {})
    if python is None:
        raise call.refuse(f"{function.__name__}() of these values")
    bound = inspect.signature(python).bind(*values)
    bound.apply_defaults()
    return call.compiler.compile_function(python).call(frame.run, bound.args, mask)


def total_of_array(call: CallExpression, frame: Frame, mask: Mask, array: Array, start):
    """Return the sum of ``start`` and the elements of an array of one dimension, added in order.

    It is a number in Numba's type, with a sum per lane if lanes differ. Raises Unsupported for an
    array with another number of dimensions.
    """
    _check_rank(call, array)
    apply, result = Arithmetic(call.source, call.node).apply, start
    for value, lanes in _values(call, frame, mask, array):
        new = apply(operator.add, (result, value), frame, lanes)
        result = new if lanes is mask else operations.merge(lanes.lanes, new, result)
    return result


def extreme(call: CallExpression, function: Callable, frame: Frame, mask: Mask, array: Array):
    """Return the least or the largest element of an array of one dimension, one per lane.

    ``function`` is Python's ``min`` or ``max``. Raises Unsupported for an array without elements or
    with another number of dimensions.
    """
    _check_rank(call, array)
    apply, result = Arithmetic(call.source, call.node).apply, None
    for value, lanes in _values(call, frame, mask, array):
        new = value if result is None else apply(function, (result, value), frame, lanes)
        first = result is None or lanes is mask
        result = new if first else operations.merge(lanes.lanes, new, result)
    if result is None:
        raise call.refuse(f"{function.__name__}() of an array without elements")
    return result


def _check_rank(call: CallExpression, array: Array) -> None:
    """Raise Unsupported unless the array has one dimension."""
    if len(array.shape) != 1:
        raise call.refuse(f"{ast.unparse(call.node)}, of an array of rank {len(array.shape)},")


def method(call: CallExpression, name: str) -> Callable | None:
    """Return ``reduce(frame, mask, array)`` for a method of this name, or None if there is none.

    The methods are sum, prod, mean, var, std, any, all, argmax and argmin. ``reduce`` returns the
    method's result: a NumPy scalar, or a vector of lanes if the lanes differ.
    """
    reduce = _REDUCTIONS.get(name)
    return None if reduce is None else functools.partial(reduce, call)


def function(name: str) -> Handler:
    """Return the handler of the NumPy function of this name, which takes one array.

    ``name`` is one of FUNCTIONS. The closure returns one result per lane, as a scalar or a vector,
    and raises Unsupported for anything but an array.
    """

    def handler(call: CallExpression) -> Evaluate:
        (argument,) = call.arguments(1)

        def evaluate(frame, mask):
            array = argument(frame, mask)
            if not isinstance(array, Array):
                raise call.refuse(f"np.{name}() of anything but an array")
            return _REDUCTIONS[name](call, frame, mask, array)

        return evaluate

    return handler


def _values(call: CallExpression, frame: Frame, mask: Mask, array: Array):
    """Yield (value, Mask of the lanes that have this element) per element of an array, in order.

    The last index is fastest. The value is what ``load`` returns. The Mask is the object ``mask``
    if all its lanes have the element; otherwise the caller must use the value in the Mask's lanes
    only.
    """
    for place in elements(Place(frame.run, array, (), mask, call.site)):
        yield load(place), place.mask


def _size(array: Array):
    """Return the number of elements of an array: an int64, or a vector if it differs by lane."""
    return functools.reduce(operator.mul, array.shape, np.int64(1))


def _result_dtype(call: CallExpression, frame: Frame, otherwise: np.dtype) -> np.dtype:
    """Return the dtype that Numba gives to the result of the call; ``otherwise`` if it has none."""
    kind = frame.types.values.get(call.node)
    return kind if isinstance(kind, np.dtype) else otherwise


def _folded(
    combine: Callable, first: int, call: CallExpression, frame: Frame, mask: Mask, array: Array
):
    """Return the sum or the product of all elements per lane, in the type that Numba gives to it.

    ``combine`` is ``operator.add`` or ``operator.mul``, and ``first`` is 0 or 1, the result for no
    elements. The elements are combined in order.
    """
    wide = array.dtype if array.dtype.kind in "fc" else np.dtype(np.int64)
    dtype = _result_dtype(call, frame, wide)
    apply, total = Arithmetic(call.source, call.node).apply, dtype.type(first)
    for value, lanes in _values(call, frame, mask, array):
        new = numba_types.cast(apply(combine, (total, value), frame, lanes), dtype)
        total = new if lanes is mask else operations.merge(lanes.lanes, new, total)
    return total


def _mean(call: CallExpression, frame: Frame, mask: Mask, array: Array):
    """Return the mean of all elements per lane, which are added in order.

    Floats and complex numbers keep their dtype. Integers are added as float64, which is then the
    dtype of the mean.
    """
    dtype = array.dtype if array.dtype.kind in "fc" else np.dtype(np.float64)
    apply, total = Arithmetic(call.source, call.node).apply, dtype.type(0)
    for value, lanes in _values(call, frame, mask, array):
        new = numba_types.cast(apply(operator.add, (total, value), frame, lanes), dtype)
        total = new if lanes is mask else operations.merge(lanes.lanes, new, total)
    quotient = apply(operator.truediv, (total, np.int64(_size(array))), frame, mask)
    return numba_types.cast(quotient, dtype)


def _variance(call: CallExpression, frame: Frame, mask: Mask, array: Array):
    """Return the variance of all elements per lane: the mean squared distance from their mean.

    It is a float64 scalar, or a vector if lanes differ. Raises Unsupported for complex numbers.
    """
    if array.dtype.kind == "c":
        raise call.refuse("the variance of complex numbers")
    apply, total = Arithmetic(call.source, call.node).apply, np.float64(0)
    mean = _mean(call, frame, mask, array)
    for value, lanes in _values(call, frame, mask, array):
        away = apply(operator.sub, (value, mean), frame, lanes)
        square = apply(operator.mul, (away, away), frame, lanes)
        new = apply(operator.add, (total, square), frame, lanes)
        total = new if lanes is mask else operations.merge(lanes.lanes, new, total)
    return apply(operator.truediv, (total, np.int64(_size(array))), frame, mask)


def _deviation(call: CallExpression, frame: Frame, mask: Mask, array: Array):
    """Return the standard deviation of all elements per lane, the root of their variance.

    Raises Unsupported for complex numbers.
    """
    return np.sqrt(_variance(call, frame, mask, array))


def _decided(stops_at: bool, call: CallExpression, frame: Frame, mask: Mask, array: Array):
    """Return ``any`` or ``all`` of an array's elements as a boolean vector of lanes.

    ``stops_at`` is the truth of an element that decides the result: True for ``any``, False for
    ``all``. A lane loads no more elements once its result is known.
    """
    undecided, result = mask, np.full(frame.run.batch.size, not stops_at)
    for place in elements(Place(frame.run, array, (), mask, call.site)):
        lanes = place.mask.narrow(undecided.lanes)
        if lanes is None:
            continue
        true = operations.truth(load(place.narrowed(lanes)))
        decided = lanes.narrow(np.broadcast_to(true, result.shape) == stops_at)
        if decided is not None:
            result[decided.lanes] = stops_at
            undecided = undecided.without(decided)
        if undecided is None:
            break
    return result


def _by_numpy(
    function: Callable, call: CallExpression, frame: Frame, mask: Mask, array: Array
):
    """Return the result of Numba's Python implementation of ``function`` for the array.

    Raises Unsupported if Numba has none for the array's type.
    """
    return by_overload(call, function, (array,), frame, mask)


_REDUCTIONS: dict[str, Callable] = {
    "sum": functools.partial(_folded, operator.add, 0),
    "prod": functools.partial(_folded, operator.mul, 1),
    "mean": _mean,
    "var": _variance,
    "std": _deviation,
    "any": functools.partial(_decided, True),
    "all": functools.partial(_decided, False),
    "argmax": functools.partial(_by_numpy, np.argmax),
    "argmin": functools.partial(_by_numpy, np.argmin),
}
FUNCTIONS = ("sum", "prod", "mean", "var", "std", "any", "all")
