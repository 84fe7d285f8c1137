"""Compiles the calls with which a kernel makes shared, local and constant arrays."""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable

import numpy as np
from numba.core import types
from numba.np.numpy_support import as_dtype

from ..machine.records import RecordLayout, local_records, misplaced_field, record_array
from ..memory.memory import ArrayView, LocalArray, constant_array, element_strides
from ..types.numba_types import SCALAR_KINDS
from .call_expression import CallExpression
from .frame import Evaluate

PYTHON_TYPES = (bool, int, float, complex)
LEAST_ALIGNMENT = 8  # bytes, the size of a pointer


def _shape_and_dtype(call: CallExpression) -> Callable:
    """Return a closure ``evaluate(frame, mask) -> (shape, dtype)`` for a new array.

    The shape is a tuple of ints of 0 or more. It must be constant, but it may be an argument of a
    device function. The dtype may be ``x.dtype``. Raises Unsupported if the call lacks one of them;
    the closure raises it for one that is not valid, and for an alignment that is not.
    """
    arguments = call.named("shape", "dtype", "alignment")
    if "shape" not in arguments or "dtype" not in arguments:
        raise call.refuse("an array without a shape or a dtype")
    constant = call.literal(arguments["shape"])
    dtype = call.compiler.expression(arguments["dtype"])
    alignment = call.literal(arguments["alignment"]) if "alignment" in arguments else None

    def evaluate(frame, mask) -> tuple[tuple[int, ...], np.dtype]:
        shape = constant(frame)
        if shape is None:
            raise call.refuse(
                "a shape that is neither a number nor the name of a constant (Numba refuses it, "
                "too: compute it outside of the kernel)"
            )
        shape = shape if isinstance(shape, tuple) else (shape,)
        if any(size < 0 for size in shape):
            raise call.refuse(f"the negative shape {shape}")
        if alignment:
            _check_alignment(call, alignment(frame))
        return shape, _dtype(call, dtype(frame, mask))

    return evaluate


def _check_alignment(call: CallExpression, given) -> None:
    """Raise Unsupported if ``given`` is an int that is no power of 2 or is less than 8 (bytes).

    Numba refuses these alignments. Any other value passes, such as None, which means the alignment
    of the dtype.
    """
    if isinstance(given, int) and (given < LEAST_ALIGNMENT or given.bit_count() != 1):
        raise call.refuse(
            f"the alignment {given} (Numba refuses it, too: take a power of 2 of at least "
            f"{LEAST_ALIGNMENT})"
        )


def _dtype(call: CallExpression, argument) -> np.dtype:
    """Return the NumPy dtype that the dtype argument of a call names.

    The argument is a type of NumPy or Numba, or a dtype. Raises Unsupported for a Python type such
    as ``float``, for anything that names no number or record, and for records with a field that is
    not aligned to its size.
    """
    if any(argument is kind for kind in PYTHON_TYPES):  # np.dtype("float64") equals float
        raise call.refuse("a Python type as dtype (Numba refuses it, too)")
    kind = element_dtype(argument)
    if not isinstance(kind, np.dtype) or not (kind.kind in SCALAR_KINDS or kind.names):
        raise call.refuse(f"an array of {argument if kind is None else kind}")
    if kind.names and misplaced_field(kind):
        raise call.refuse(f"an array of records whose field {misplaced_field(kind)} is not aligned")
    return kind


def element_dtype(argument) -> np.dtype | None:
    """Return the dtype of a Numba type, or what np.dtype makes of another argument.

    It is None if np.dtype raises TypeError, as for a number. Raises NumbaNotImplementedError for a
    Numba type that has no dtype.
    """
    try:
        return as_dtype(argument) if isinstance(argument, types.Type) else np.dtype(argument)
    except TypeError:
        return None


def shared_array(call: CallExpression) -> Evaluate:
    """Compile ``cuda.shared.array``, which returns an array in the shared memory of the block.

    Every execution of the call returns the same memory. Shape 0 means the launch's dynamic shared
    memory, as a vector. The array is an ArrayView, or a RecordArray for a dtype with fields.
    """
    shape_and_dtype = _shape_and_dtype(call)
    named = call.named("shape", "dtype", "alignment")
    alignment = call.compiler.expression(named["alignment"]) if "alignment" in named else None
    name = call.name or "shared"

    def evaluate(frame, mask):
        shape, dtype = shape_and_dtype(frame, mask)
        if shape == (0,):
            return frame.run.shared.dynamic(call.node, name, dtype, call.source.name)
        _check_not_empty(call, shape)
        strides = element_strides(shape)
        if dtype.names:
            size = math.prod(shape) * dtype.itemsize
            memory_of = functools.partial(frame.run.shared.static_part, call.node, name, size)
            steps = tuple(s * dtype.itemsize for s in strides)
            return record_array(dtype, RecordLayout(name, shape, steps, 0), memory_of)
        memory = frame.run.shared.static(call.node, name, shape, dtype)
        memory.alignment = int(alignment(frame, mask)) if alignment else dtype.itemsize
        return ArrayView(memory, shape, strides)

    return evaluate


def local_array(call: CallExpression) -> Evaluate:
    """Compile ``cuda.local.array``, which returns an array of which each thread has its own.

    Each execution makes a new array, whose elements count as not written. The array is a
    LocalArray, or a RecordArray for a dtype with fields.
    """
    shape_and_dtype = _shape_and_dtype(call)
    name = call.name or "local"

    def evaluate(frame, mask):
        shape, dtype = shape_and_dtype(frame, mask)
        _check_not_empty(call, shape)
        lanes, filling = frame.run.batch.size, frame.run.filling
        if dtype.names:
            return local_records(name, dtype, shape, lanes, filling)
        return LocalArray(name, shape, dtype, lanes, filling)

    return evaluate


def _check_not_empty(call: CallExpression, shape: tuple[int, ...]) -> None:
    """Raise Unsupported if an array of this shape has no elements."""
    if math.prod(shape) == 0:
        raise call.refuse(f"an array of shape {shape} (Numba refuses it, too)")


def constant_array_like(call: CallExpression) -> Evaluate:
    """Compile ``cuda.const.array_like(x)`` of an array that is known at compile time.

    The closure returns a read-only copy of ``x`` as an ArrayView. The copy is made now, so later
    changes of ``x`` have no effect. Raises Unsupported for an argument that is no such array.
    """
    array = call.only_static()
    if not isinstance(array, np.ndarray):
        raise call.refuse("const.array_like() of anything but an array of the module")
    constant = constant_array(ast.unparse(call.node.args[0]), array)
    return lambda frame, mask: constant
