"""Compiles calls of functions that compute with values, from Python, ``math`` and Numba, and casts.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

import numpy as np

from ..machine.lost_values import check_index, is_index
from ..machine.records import RecordArray
from ..memory.memory import Array
from ..numbers import complex_math, operations
from ..numbers.fused import fused_multiply_add
from ..types import numba_types
from ..types.numba_types import Number
from .arithmetic import Arithmetic
from .call_expression import CallExpression, Handler
from .frame import Evaluate, described
from .reductions import extreme, total_of_array


def typed(call: CallExpression) -> Evaluate:
    """Compile a call of a function of numbers, such as ``math.sin``, ``abs`` or ``min``.

    The closure returns a number in Numba's type. ``min`` and ``max`` take two or more numbers, one
    tuple of numbers, or one array of one dimension; the closure raises Unsupported for one number
    and for an empty tuple.
    """
    arguments, function = call.arguments(1, 8), call.function
    apply = Arithmetic(call.source, call.node).apply

    def evaluate(frame, mask):
        values = [a(frame, mask) for a in arguments]
        if function not in (min, max):
            return apply(function, tuple(values), frame, mask)
        if len(values) == 1:
            if isinstance(values[0], Array):
                return extreme(call, function, frame, mask, values[0])
            if not isinstance(values[0], tuple):
                raise call.refuse(f"{function.__name__}() of one value")
            values = list(values[0])
            if not values:
                raise call.refuse(f"{function.__name__}() of an empty tuple")
        result = values[0]
        for value in values[1:]:
            result = apply(function, (result, value), frame, mask)
        return result

    return evaluate


def cast_to(dtype: np.dtype) -> Handler:
    """Return the handler that compiles a cast to ``dtype``, such as ``float32(x)``.

    Its attribute ``casts_to`` is the dtype. Python's ``float`` also takes a string that names a
    number, such as ``"inf"``. The execution of a cast raises Unsupported for a value that is no
    number, and for a complex number unless the dtype is complex or bool.
    """

    def handler(call: CallExpression) -> Evaluate:
        (argument,), site = call.arguments(1), call.site
        narrow = is_narrow_index(dtype, call.node, call.source.tree)

        def evaluate(frame, mask):
            value = argument(frame, mask)
            if isinstance(value, str) and call.function is float:
                return _parsed(call, value)
            if not isinstance(value, Number):
                raise call.refuse(f"{ast.unparse(call.node)}, a cast of a value that is no number,")
            if value.dtype.kind == "c" and dtype.kind not in "cb":
                raise call.refuse(f"a cast of {value.dtype} to {dtype}")
            if narrow and value.dtype.kind in "iuf" and value.dtype != dtype:
                check_index(frame.run, mask, site, value, dtype)
            return numba_types.cast(value, dtype)

        return evaluate

    handler.casts_to = dtype
    return handler


def is_narrow_index(dtype: np.dtype, node: ast.Call, tree: ast.AST) -> bool:
    """Return True if a cast to ``dtype`` is an index of ``tree`` that may change its number.

    ``node`` is the call of the cast. It may change the number if ``dtype`` is a signed integer of
    fewer than 64 bits.
    """
    return dtype.kind == "i" and dtype.itemsize < 8 and is_index(node, tree)


def _parsed(call: CallExpression, text: str) -> np.float64:
    """Return the number that a string such as "inf" names, as in Python's ``float``.

    Raises Unsupported if it names none.
    """
    try:
        return np.float64(text)
    except ValueError:
        raise call.refuse(f"{ast.unparse(call.node)}, which names no number,") from None


def fma(call: CallExpression) -> Evaluate:
    """Compile ``cuda.fma(a, b, c)``, which returns a·b + c, rounded once, in the dtype of a."""
    arguments = call.arguments(3)

    def evaluate(frame, mask):
        a, b, c = (x(frame, mask) for x in arguments)
        return fused_multiply_add(a, b, c)

    return evaluate


def select(call: CallExpression) -> Evaluate:
    """Compile ``cuda.selp(condition, yes, no)``.

    Both values are evaluated in all lanes. The closure returns ``yes`` in the lanes in which the
    condition is true, else ``no``, in the dtype that Numba gives a variable that holds either.
    """
    arguments = call.arguments(3)

    def evaluate(frame, mask):
        chosen, yes, no = (x(frame, mask) for x in arguments)
        result = operations.merge(operations.truth(chosen), yes, no)
        return result if result.ndim else result[()]

    return evaluate


def to_complex(call: CallExpression) -> Evaluate:
    """Compile ``complex(x)`` and ``complex(re, im)``.

    The closure returns complex128 numbers; it returns complex64 only for two parts that are both
    float32.
    """
    parts = call.arguments(1, 2)

    def evaluate(frame, mask):
        values = [p(frame, mask) for p in parts]
        if len(values) == 1:
            return numba_types.cast(values[0], np.dtype(np.complex128))
        single = all(v.dtype == np.float32 for v in values)
        kind = np.dtype(np.complex64 if single else np.complex128)
        real, imaginary = (numba_types.cast(v, kind) for v in values)
        return numba_types.cast(real + imaginary * kind.type(1j), kind)

    return evaluate


def polar(call: CallExpression) -> Evaluate:
    """Compile ``cmath.polar``, which returns the tuple (absolute value, angle in radians).

    Both are floats as wide as the number's parts. The closure raises Unsupported for a value that
    is no complex number.
    """
    (argument,) = call.arguments(1)

    def evaluate(frame, mask):
        z = argument(frame, mask)
        if not isinstance(z, Number) or z.dtype.kind != "c":
            raise call.refuse("polar() of a value that is no complex number")
        return np.hypot(z.real, z.imag), complex_math.phase(z)

    return evaluate


def divided(call: CallExpression) -> Evaluate:
    """Compile ``divmod(x, y)``, which returns the tuple ``(x // y, x % y)`` in Numba's types."""
    parts, apply = call.arguments(2), Arithmetic(call.source, call.node).apply

    def evaluate(frame, mask):
        values = tuple(p(frame, mask) for p in parts)
        return tuple(apply(f, values, frame, mask) for f in (operator.floordiv, operator.mod))

    return evaluate


def two_results(
    compute: Callable, dtypes: tuple = (None, None), takes: type | None = None
) -> Handler:
    """Return the handler of a function with two results, such as ``math.modf``.

    A call returns the tuple of the two numbers that ``compute(argument)`` returns. ``dtypes`` are
    those of the results, where None means the dtype of the argument. The argument is cast to
    ``takes``; without ``takes``, an argument that is no float is cast to float64.
    """

    def handler(call: CallExpression) -> Evaluate:
        (argument,) = call.arguments(1)

        def evaluate(frame, mask):
            value = argument(frame, mask)
            if not isinstance(value, Number):
                raise call.refuse(f"{ast.unparse(call.node)}, of {described(value)},")
            if takes or value.dtype.kind != "f":
                value = numba_types.cast(value, np.dtype(takes or np.float64))
            kinds = (np.dtype(d) if d else value.dtype for d in dtypes)
            return tuple(
                numba_types.cast(part, kind)
                for part, kind in zip(compute(value), kinds, strict=True)
            )

        return evaluate

    return handler


def total_of(call: CallExpression) -> Evaluate:
    """Compile ``sum`` of a tuple of numbers or of an array of one dimension.

    A second argument is the number to which the items are added, by default the int64 0. The
    closure returns the sum in Numba's type, and raises Unsupported for anything else to add up.
    """
    (argument, *start), apply = call.arguments(1, 2), Arithmetic(call.source, call.node).apply

    def evaluate(frame, mask):
        items = argument(frame, mask)
        first = start[0](frame, mask) if start else np.int64(0)
        if isinstance(items, Array):
            return total_of_array(call, frame, mask, items, first)
        if not isinstance(items, tuple):
            raise call.refuse("sum() of anything but a tuple or an array")
        total = first
        for item in items:
            total = apply(operator.add, (total, item), frame, mask)
        return total

    return evaluate


def cube_root(call: CallExpression) -> Evaluate:
    """Compile ``cuda.cbrt``, the cube root of a float32 or float64, in the same dtype.

    The closure raises Unsupported for a number of another dtype.
    """
    (argument,) = call.arguments(1)

    def evaluate(frame, mask):
        value = argument(frame, mask)
        if value.dtype not in (np.float32, np.float64):
            raise call.refuse(f"cbrt() of {value.dtype}")
        return np.cbrt(value)

    return evaluate


def character(call: CallExpression) -> Evaluate:
    """Compile ``ord`` of a constant character, which returns its code point as an int32.

    Anything but one constant character raises Unsupported.
    """
    text = call.only_static()
    if not isinstance(text, str) or len(text) != 1:
        raise call.refuse("ord() of anything but one constant character")
    value = np.int32(ord(text))
    return lambda frame, mask: value


def printed(call: CallExpression) -> Evaluate:
    """Compile ``print``, which writes one line per thread to stdout, in the order of the lanes.

    The closure returns None, and raises Unsupported for an array. When a launch is run again with
    another filling of its memory, nothing is printed.
    """
    parts = call.arguments(0, 32)

    def evaluate(frame, mask):
        values = [p(frame, mask) for p in parts]
        for array in (v for v in values if isinstance(v, Array | RecordArray)):
            raise call.refuse(f"print() of {described(array)} (Numba refuses it, too)")
        if frame.run.filling.is_rerun:
            return  # the first run has printed
        for lane in mask.index:
            print(*(_shown(v, lane) for v in values))

    return evaluate


def _shown(value, lane: int) -> str:
    """Return the text that the thread of ``lane`` prints for a value; a tuple gives "(1, 2)"."""
    if isinstance(value, tuple):
        items = ", ".join(_shown(item, lane) for item in value)
        return f"({items},)" if len(value) == 1 else f"({items})"
    return str(value[lane] if isinstance(value, np.ndarray) else value)


def nothing(call: CallExpression) -> Evaluate:
    """Compile ``cuda.nanosleep``; the closure does nothing and returns None."""
    call.arguments(1)
    return lambda frame, mask: None


def length(call: CallExpression) -> Evaluate:
    """Compile ``len`` of a tuple, a string or an array, which returns an int64.

    The length of an array is the extent of its first dimension. The closure raises Unsupported for
    any other value.
    """
    (argument,) = call.arguments(1)

    def evaluate(frame, mask):
        value = argument(frame, mask)
        if isinstance(value, tuple | str):
            return np.int64(len(value))
        if isinstance(value, Array | RecordArray):
            return np.int64(value.shape[0])
        raise call.refuse("len() of this value")

    return evaluate
