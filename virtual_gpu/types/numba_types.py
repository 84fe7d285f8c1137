"""Numba's own typing rules, requested from Numba itself.

The virtual GPU computes with NumPy but types like Numba: ``int32 + int32`` is int64,
``float32 * 2`` is float64. Instead of repeating those rules, every operation asks the CUDA target's
typing context once per combination of types and caches the answer, also on disk. Numba answers one
thread at a time, under its own lock.
"""

from __future__ import annotations

import contextlib
import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba.core import types
from numba.cuda.descriptor import cuda_target
from numba.np.numpy_support import as_dtype, from_dtype

from . import disk_cache
from .function_key import rule_key
from .numba_passes import global_compiler_lock
from .tuples import alike

SCALAR_KINDS = "biufc"

Kind = np.dtype | tuple | None  # the type of a number, of a tuple's items, of anything else
_Dtypes = tuple[np.dtype, ...]
Number = np.generic | np.ndarray  # the same in all threads, or a vector with one entry per lane


@dataclass(frozen=True)
class TypingRule:
    """The typing of one operation: the dtypes of its cast operands, and the dtype of its result."""

    operands: tuple[np.dtype, ...]
    result: np.dtype


@functools.cache
@global_compiler_lock
def context():
    """Return the typing context of Numba's CUDA target, with all that Numba declares in it."""
    typing_context = cuda_target.typing_context
    typing_context.refresh()
    return typing_context


@functools.cache
def numba_type(dtype: np.dtype) -> types.Type:
    """Return the Numba type of a NumPy dtype."""
    return from_dtype(dtype)


@functools.cache
@global_compiler_lock
def rule(function: Callable, dtypes: tuple[np.dtype, ...]) -> TypingRule | None:
    """Return the typing rule for ``function`` on these dtypes, or None if Numba refuses them.

    ``function`` is a function of numbers that kernels can call, such as one of ``operator``,
    ``math``, NumPy or Python. The result is None, too, if the result of the call is no number.
    """
    dtypes_of_call = _from_disk("rule", function, dtypes, lambda: _types_of_call(function, dtypes))
    return dtypes_of_call and TypingRule(dtypes_of_call[:-1], dtypes_of_call[-1])


def _types_of_call(function: Callable, dtypes: tuple[np.dtype, ...]) -> _Dtypes | None:
    """Return the dtypes of the operands and, at the end, of the result in one tuple.

    Returns None if Numba refuses the call, or if its result is no number.
    """
    arguments = tuple(numba_type(d) for d in dtypes)
    try:
        signature = context().resolve_function_type(function, arguments, {})
    except Exception:  # Numba raises many kinds of typing error; each means "refused"
        return None
    if signature is None or not isinstance(signature.return_type, types.Number | types.Boolean):
        return None
    operands = signature.args
    if len(operands) != len(dtypes):  # plain numba types min(x, y) as min((x, y))
        operands = (signature.return_type,) * len(dtypes)
    return tuple(map(as_dtype, (*operands, signature.return_type)))


def _from_disk(
    question: str, function: Callable | None, dtypes: _Dtypes, ask: Callable[[], _Dtypes | None]
) -> _Dtypes | None:
    """Return Numba's answer from the disk cache, or else that of ``ask()``, which is then cached.

    ``question`` is a word, such as "rule", that tells several questions about the same ``function``
    and ``dtypes`` apart. A refusal (None) is not cached: it may come from this process, which has
    no room left on its stack.
    """
    key = rule_key(question, function, dtypes) if disk_cache.folder() else None
    cached = disk_cache.read(key)
    with contextlib.suppress(TypeError):
        if isinstance(cached, list) and cached:
            return tuple(np.dtype(str(name)) for name in cached)
    answer = ask()
    if answer is not None:
        disk_cache.write(key, [dtype.str for dtype in answer])
    return answer


@functools.cache
@global_compiler_lock
def unified(first: np.dtype, second: np.dtype) -> np.dtype:
    """Return the dtype of a variable that holds ``first`` on one path and ``second`` on another.

    If Numba cannot unify the two, it is NumPy's ``result_type`` of them.
    """
    if first == second:
        return first
    return _from_disk("unified", None, (first, second), lambda: (_common(first, second),))[0]


def _common(first: np.dtype, second: np.dtype) -> np.dtype:
    """Return the dtype in which Numba, or else NumPy, unites two dtypes."""
    common = context().unify_types(numba_type(first), numba_type(second))
    return as_dtype(common) if common is not None else np.result_type(first, second)


def kind_of(numba: types.Type) -> Kind:
    """Return the dtype of a Numba type, or for a tuple type the tuple of its items' kinds.

    Returns None for any other type, and for a tuple type in which every item would give None.
    """
    numba = types.unliteral(numba)
    if isinstance(numba, types.Number | types.Boolean):
        return as_dtype(numba)
    if isinstance(numba, types.BaseTuple):
        kinds = tuple(map(kind_of, numba.types))
        return kinds if any(k is not None for k in kinds) else None
    return None


def is_literal(numba: types.Type) -> bool:
    """Return True if a Numba type also determines the value.

    That is so for a literal integer, a tuple of literals, and a function that Numba has itself.
    """
    if isinstance(numba, types.BaseTuple):
        return all(map(is_literal, numba.types))
    return isinstance(numba, types.IntegerLiteral | types.Function)


def literal(value) -> types.Type | None:
    """Return the Numba type that determines this integer or tuple of integers.

    A tuple may hold tuples of integers, too. Returns None for any other value, such as a bool or a
    NumPy integer.
    """
    if type(value) is int:
        return types.literal(value)
    if type(value) is tuple and all(map(literal, value)):
        return types.BaseTuple.from_types(tuple(map(literal, value)))
    return None


def literal_value(numba: types.Type) -> int | tuple | None:
    """Return the integer that a literal type stands for, or None for another type.

    For the type of a tuple, it is the tuple of these values of its items, with None for an item
    that is no literal.
    """
    if isinstance(numba, types.BaseTuple):
        return tuple(map(literal_value, numba.types))
    return getattr(numba, "literal_value", None)


def conform(value, kind: Kind):
    """Return a value of the kernel, cast to ``kind``, the type that Numba gives it.

    A number is cast to the dtype, and each item of a tuple to its part of ``kind``. Any other
    value, a tuple of another length, and any value for ``kind=None`` are returned unchanged.
    """
    if kind is None:
        return value
    if isinstance(kind, tuple):
        if not isinstance(value, tuple) or len(value) != len(kind):
            return value
        items = alike(value, map(conform, value, kind))
        return items if any(map(operator.is_not, items, value)) else value
    if isinstance(value, Number) and value.dtype != kind:
        return cast(value, kind)
    return value


@functools.cache
@global_compiler_lock
def range_dtype(dtypes: tuple[np.dtype, ...]) -> np.dtype:
    """Return the dtype of the loop variable of ``range`` with arguments of these dtypes."""
    return _from_disk("range", range, dtypes, lambda: (_loop_variable(dtypes),))[0]


def _loop_variable(dtypes: _Dtypes) -> np.dtype:
    """Return the dtype of the numbers of a ``range()`` whose arguments have these dtypes."""
    signature = context().resolve_function_type(
        range, tuple(numba_type(d) for d in dtypes), {}
    )
    return as_dtype(signature.return_type.dtype)


def cast(value, dtype: np.dtype):
    """Return ``value``, a NumPy scalar or a vector of lanes, converted to ``dtype`` as in a kernel.

    As a bool, a number is True if it is not zero. As a real number, a complex number loses its
    imaginary part. As an integer, a float is truncated, and a float16 rounded to the nearest.
    """
    if value.dtype == dtype:
        return value
    if dtype.kind == "b":
        return value != 0
    if value.dtype.kind == "c" and dtype.kind != "c":
        value = value.real
    if value.dtype.kind == "f" and dtype.kind in "iu":
        return _truncated(value, dtype)
    return value.astype(dtype)


def _truncated(value, dtype: np.dtype):
    """Return a float as an integer of ``dtype``, as the hardware converts it.

    A float32 or float64 is truncated; Numba rounds a float16 to the nearest integer (``cvt.rni``).
    A value out of range becomes the nearest number of ``dtype``. For an 8-bit type, a float32 or
    float64 becomes the nearest number of 16 bits, of which 8 are kept. NaN becomes 0; but if either
    type has 64 bits and ``dtype`` has at least 16, it becomes the number whose highest bit alone is
    set.
    """
    half = value.dtype == np.float16
    limits = np.iinfo(dtype if half or dtype.itemsize >= 2 else f"{dtype.kind}2")
    whole = (np.rint if half else np.trunc)(np.where(np.isnan(value), 0, value).astype(np.float64))
    inside = np.where((whole > limits.min) & (whole < limits.max), whole, 0).astype(limits.dtype)
    clipped = np.where(whole >= limits.max, limits.max, inside)
    clipped = np.where(whole <= limits.min, limits.min, clipped)
    if value.dtype == np.float64 or dtype.itemsize == 8:
        highest = limits.min if dtype.kind == "i" else limits.max // 2 + 1
        clipped = np.where(np.isnan(value), np.array(highest, limits.dtype), clipped)
    clipped = clipped.astype(dtype)
    return clipped if clipped.ndim else clipped[()]


def scalar(value) -> np.generic:
    """Return a Python or NumPy scalar typed as Numba types it: int → int64, float → float64.

    An int from 2**63 on becomes a uint64, and a NumPy scalar is returned unchanged. Raises
    OverflowError for an int that does not fit into 64 bits, and TypeError for any other value.
    """
    if isinstance(value, np.generic):
        return value
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, int):
        return np.uint64(value) if value >= 2**63 else np.int64(value)
    if isinstance(value, float):
        return np.float64(value)
    if isinstance(value, complex):
        return np.complex128(value)
    raise TypeError(value)
