"""Arrays that a kernel makes: shared, local and constant ones."""

from __future__ import annotations

import ast
from collections.abc import Callable

import numpy as np
from numba.core import types
from numba.np.numpy_support import as_dtype

from .call import Call
from .frame import Evaluate
from .memory import ArrayView, LocalArray, constant_array, element_strides
from .numba_types import SCALAR_KINDS


def _shape_and_dtype(call: Call) -> tuple[tuple[int, ...], Callable]:
    """The constant shape of a new array, and what evaluates its dtype (it may be ``x.dtype``)."""
    given = call.named("shape", "dtype", "alignment")
    if "shape" not in given or "dtype" not in given:
        raise call.refuse("an array without a shape or a dtype")
    shape = call.compiler.try_static(given["shape"])
    if shape is None or _is_computed(given["shape"]):
        raise call.refuse(
            "a shape that is neither a number nor the name of a constant (Numba refuses it, too: "
            "compute it outside of the kernel)"
        )
    shape = shape if isinstance(shape, tuple) else (shape,)
    dtype = call.compiler.expression(given["dtype"])

    def evaluate(frame, mask) -> np.dtype:
        value = dtype(frame, mask)
        if value in (bool, int, float, complex):
            raise call.refuse("a Python type as dtype (Numba refuses it, too)")
        kind = as_dtype(value) if isinstance(value, types.Type) else np.dtype(value)
        if kind.kind not in SCALAR_KINDS:
            raise call.refuse(f"an array of {kind}")
        return kind

    return tuple(int(s) for s in shape), evaluate


def _is_computed(shape: ast.expr) -> bool:
    """Whether a shape is calculated from names; Python folds what is made of numbers only."""
    calculations = [n for n in ast.walk(shape) if isinstance(n, ast.BinOp | ast.Call)]
    return any(isinstance(n, ast.Name) for c in calculations for n in ast.walk(c))


def shared_array(call: Call) -> Evaluate:
    """``cuda.shared.array``; of shape 0 it is the launch's dynamic shared memory."""
    shape, dtype = _shape_and_dtype(call)
    name = call.name or "shared"
    if shape == (0,):
        return lambda frame, mask: frame.run.shared.dynamic(name, dtype(frame, mask))
    strides, size = element_strides(shape), int(np.prod(shape))

    def evaluate(frame, mask):
        memory = frame.run.shared.static(call.node, name, size, dtype(frame, mask))
        return ArrayView(memory, shape, strides)

    return evaluate


def local_array(call: Call) -> Evaluate:
    """``cuda.local.array``."""
    shape, dtype = _shape_and_dtype(call)
    name = call.name or "local"
    return lambda frame, mask: LocalArray(name, shape, dtype(frame, mask), frame.run.batch.size)


def constant_array_like(call: Call) -> Evaluate:
    """``cuda.const.array_like``."""
    array = call.only_static()
    if not isinstance(array, np.ndarray):
        raise call.refuse("const.array_like() of anything but an array of the module")
    constant = constant_array(ast.unparse(call.node.args[0]), array)
    return lambda frame, mask: constant
