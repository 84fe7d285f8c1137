"""What a kernel can call: the functions of ``numba.cuda``, ``math`` and Python, on lanes."""

from __future__ import annotations

import ast
import builtins
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import cuda
from numba.core import types
from numba.np.numpy_support import as_dtype

from . import atomics, numba_types, operations, warps
from .lanes import WARP
from .memory import ArrayView, LocalArray, constant_array, element_strides


class Dim3(NamedTuple):
    """``cuda.threadIdx`` and its like."""

    x: object
    y: object
    z: object


def _dim3(values: tuple[int, int, int]) -> Dim3:
    return Dim3(*(np.int32(v) for v in values))


def _lane_id(frame, mask):
    return (frame.run.batch.thread_number % WARP).astype(np.int32)


_SPECIAL = {
    id(cuda.threadIdx): lambda frame, mask: Dim3(*frame.run.batch.thread_index),
    id(cuda.blockIdx): lambda frame, mask: Dim3(*frame.run.batch.block_index),
    id(cuda.blockDim): lambda frame, mask: _dim3(frame.run.batch.geometry.block),
    id(cuda.gridDim): lambda frame, mask: _dim3(frame.run.batch.geometry.grid),
    id(cuda.laneid): _lane_id,
    id(cuda.warpsize): lambda frame, mask: np.int32(WARP),
}


def special_value(value) -> Callable | None:
    """What evaluates an object such as ``cuda.threadIdx``; None for any other object."""
    return _SPECIAL.get(id(value))


@dataclass(frozen=True)
class Call:
    """A call as it stands in the kernel's source."""

    compiler: object  # expressions.Expressions
    node: ast.Call
    name: str | None  # the variable that the result is assigned to
    function: object

    def refuse(self, what: str) -> Exception:
        return self.compiler.source.refuse(self.node, what)

    def arguments(self, least: int, most: int | None = None) -> list[Callable]:
        """The positional arguments as expressions; between ``least`` and ``most`` of them."""
        count = len(self.node.args)
        if self.node.keywords or not least <= count <= (most or least):
            raise self.refuse(f"{ast.unparse(self.node)}, called with these arguments,")
        return [self.compiler.expression(a) for a in self.node.args]

    def named(self, *names: str) -> dict[str, ast.expr]:
        """Arguments by name, given by position or keyword."""
        given = dict(zip(names, self.node.args, strict=False))
        given.update({k.arg: k.value for k in self.node.keywords})
        if set(given) - set(names) or len(self.node.args) > len(names):
            raise self.refuse(f"an argument of {ast.unparse(self.node)}")
        return given


# --- arrays ----------------------------------------------------------------------------------


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
        if kind.kind not in numba_types.SCALAR_KINDS:
            raise call.refuse(f"an array of {kind}")
        return kind

    return tuple(int(s) for s in shape), evaluate


def _is_computed(shape: ast.expr) -> bool:
    """Whether a shape is calculated from names; Python folds what is made of numbers only."""
    calculations = [n for n in ast.walk(shape) if isinstance(n, ast.BinOp | ast.Call)]
    return any(isinstance(n, ast.Name) for c in calculations for n in ast.walk(c))


def _shared_array(call: Call) -> Callable:
    shape, dtype = _shape_and_dtype(call)
    name = call.name or "shared"
    if shape == (0,):
        return lambda frame, mask: frame.run.shared.dynamic(name, dtype(frame, mask))
    strides, size = element_strides(shape), int(np.prod(shape))

    def evaluate(frame, mask):
        memory = frame.run.shared.static(call.node, name, size, dtype(frame, mask))
        return ArrayView(memory, shape, strides)

    return evaluate


def _local_array(call: Call) -> Callable:
    shape, dtype = _shape_and_dtype(call)
    name = call.name or "local"
    return lambda frame, mask: LocalArray(name, shape, dtype(frame, mask), frame.run.batch.size)


def _constant_array(call: Call) -> Callable:
    array = call.compiler.try_static(call.node.args[0]) if len(call.node.args) == 1 else None
    if not isinstance(array, np.ndarray):
        raise call.refuse("const.array_like() of anything but an array of the module")
    constant = constant_array(ast.unparse(call.node.args[0]), array)
    return lambda frame, mask: constant


# --- where a thread is ------------------------------------------------------------------------


def _grid(call: Call) -> Callable:
    return _per_dimension(call, _global_position)


def _gridsize(call: Call) -> Callable:
    return _per_dimension(call, _global_extent)


def _per_dimension(call: Call, coordinate: Callable) -> Callable:
    if len(call.node.args) != 1 or call.compiler.try_static(call.node.args[0]) not in (1, 2, 3):
        raise call.refuse(f"{ast.unparse(call.node)} (the number of dimensions is 1, 2 or 3)")
    dimensions = call.compiler.try_static(call.node.args[0])

    def evaluate(frame, mask):
        values = tuple(coordinate(frame.run.batch, axis) for axis in range(dimensions))
        return values[0] if dimensions == 1 else values

    return evaluate


def _global_position(batch, axis: int):
    block = batch.block_index[axis].astype(np.int64)
    return block * batch.geometry.block[axis] + batch.thread_index[axis]


def _global_extent(batch, axis: int) -> np.int64:
    return np.int64(batch.geometry.block[axis] * batch.geometry.grid[axis])


# --- barriers --------------------------------------------------------------------------------


def _syncthreads(call: Call) -> Callable:
    call.arguments(0)
    site = call.compiler.source.site(call.node)

    def evaluate(frame, mask):
        frame.run.barrier(mask, site)

    return evaluate


def _block_vote(combine: Callable) -> Callable:
    """syncthreads_count, _and, _or: a barrier that also counts a predicate over the block."""

    def handler(call: Call) -> Callable:
        (predicate,) = call.arguments(1)
        site = call.compiler.source.site(call.node)

        def evaluate(frame, mask):
            run, value = frame.run, predicate(frame, mask)
            if value.dtype.kind not in "iu":
                raise call.refuse(f"a predicate of type {value.dtype} (Numba takes integers only)")
            holds = operations.truth(value) & mask.lanes
            run.barrier(mask, site)
            votes = holds.reshape(run.batch.blocks, -1).sum(axis=1)
            voters = mask.lanes.reshape(run.batch.blocks, -1).sum(axis=1)
            return np.repeat(combine(votes, voters).astype(np.int32), run.batch.width)

        return evaluate

    return handler


def _fence(call: Call) -> Callable:
    """A fence between blocks: what this thread's block did may be published by an atomic."""
    call.arguments(0)
    return lambda frame, mask: frame.run.clock.fence(mask)


def _block_fence(call: Call) -> Callable:
    """A fence within a block changes nothing here: every store is seen at once."""
    call.arguments(0)
    return lambda frame, mask: None


GRID_GROUP = object()  # cuda.cg.this_grid()


def _this_grid(call: Call) -> Callable:
    call.arguments(0)
    call.compiler.cooperative = True
    return lambda frame, mask: GRID_GROUP


# --- arithmetic ------------------------------------------------------------------------------


def _typed(call: Call) -> Callable:
    """A function that Numba types as a whole: operators of ``math``, ``min``, ``abs`` ..."""
    arguments = call.arguments(1, 8)
    function = call.function

    def evaluate(frame, mask):
        values = [a(frame, mask) for a in arguments]
        if function not in (min, max):
            return call.compiler.apply(function, tuple(values), call.node, frame, mask)
        if len(values) == 1:
            if not isinstance(values[0], tuple):
                raise call.refuse(f"{function.__name__}() of one value")
            values = list(values[0])
        result = values[0]
        for value in values[1:]:
            result = call.compiler.apply(function, (result, value), call.node, frame, mask)
        return result

    return evaluate


def _cast(dtype: np.dtype) -> Callable:
    def handler(call: Call) -> Callable:
        (argument,) = call.arguments(1)

        def evaluate(frame, mask):
            value = argument(frame, mask)
            if not isinstance(value, np.ndarray | np.generic):
                raise call.refuse(f"{ast.unparse(call.node)}, a cast of what is no number,")
            return numba_types.cast(value, dtype)

        return evaluate

    return handler


def _fma(call: Call) -> Callable:
    arguments = call.arguments(3)

    def evaluate(frame, mask):
        a, b, c = (x(frame, mask) for x in arguments)
        return operations.fused_multiply_add(a, b, c)

    return evaluate


def _select(call: Call) -> Callable:
    arguments = call.arguments(3)

    def evaluate(frame, mask):
        chosen, yes, no = (x(frame, mask) for x in arguments)
        result = operations.merge(operations.truth(chosen), yes, no)
        return result if result.ndim else result[()]

    return evaluate


def _complex(call: Call) -> Callable:
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


def _divmod(call: Call) -> Callable:
    parts = call.arguments(2)

    def evaluate(frame, mask):
        values = tuple(p(frame, mask) for p in parts)
        return tuple(
            call.compiler.apply(function, values, call.node, frame, mask)
            for function in (operator.floordiv, operator.mod)
        )

    return evaluate


def _two_results(compute: Callable, dtypes: tuple) -> Callable:
    """math.modf and math.frexp: two results; a None among ``dtypes`` stands for the argument's."""

    def handler(call: Call) -> Callable:
        (argument,) = call.arguments(1)

        def evaluate(frame, mask):
            value = argument(frame, mask)
            if value.dtype.kind != "f":
                value = numba_types.cast(value, np.dtype(np.float64))
            kinds = (np.dtype(d) if d else value.dtype for d in dtypes)
            return tuple(
                numba_types.cast(part, kind)
                for part, kind in zip(compute(value), kinds, strict=True)
            )

        return evaluate

    return handler


def _sum(call: Call) -> Callable:
    (argument,) = call.arguments(1)

    def evaluate(frame, mask):
        items = argument(frame, mask)
        if not isinstance(items, tuple):
            raise call.refuse("sum() of anything but a tuple")
        total = np.int64(0)
        for item in items:
            values = (total, item)
            total = call.compiler.apply(operator.add, values, call.node, frame, mask)
        return total

    return evaluate


def _cube_root(call: Call) -> Callable:
    (argument,) = call.arguments(1)

    def evaluate(frame, mask):
        value = argument(frame, mask)
        if value.dtype not in (np.float32, np.float64):
            raise call.refuse(f"cbrt() of {value.dtype}")
        return np.cbrt(value)

    return evaluate


def _ord(call: Call) -> Callable:
    text = call.compiler.try_static(call.node.args[0]) if len(call.node.args) == 1 else None
    if not isinstance(text, str) or len(text) != 1:
        raise call.refuse("ord() of anything but one constant character")
    value = np.int32(ord(text))
    return lambda frame, mask: value


def _print(call: Call) -> Callable:
    """print() of each thread, in the order of their numbers."""
    parts = call.arguments(0, 32)

    def evaluate(frame, mask):
        values = [p(frame, mask) for p in parts]
        for lane in mask.index:
            print(*(v[lane] if isinstance(v, np.ndarray) else v for v in values))

    return evaluate


def _nothing(call: Call) -> Callable:
    """nanosleep(): time does not pass here."""
    call.arguments(1)
    return lambda frame, mask: None


def _length(call: Call) -> Callable:
    (argument,) = call.arguments(1)

    def evaluate(frame, mask):
        value = argument(frame, mask)
        if isinstance(value, tuple):
            return np.int64(len(value))
        if isinstance(value, ArrayView | LocalArray):
            return np.int64(value.shape[0])
        raise call.refuse("len() of this value")

    return evaluate


_HANDLERS: dict[int, tuple[object, Callable]] = {}


def register(function, handler: Callable) -> None:
    """Let kernels call ``function``; ``handler(call)`` compiles one call of it."""
    _HANDLERS[id(function)] = (function, handler)  # the object is kept, so its id stays its own


def _register_named(owner, handlers: dict[str, Callable]) -> None:
    """Register functions by name: those that this version of Numba has."""
    for name, handler in handlers.items():
        if hasattr(owner, name):
            register(getattr(owner, name), handler)


for _function in operations.COMPUTE:
    register(_function, _typed)
for _type in (
    types.boolean, types.int8, types.int16, types.int32, types.int64, types.uint8, types.uint16,
    types.uint32, types.uint64, types.float32, types.float64, types.complex64, types.complex128,
):  # fmt: skip
    register(_type, _cast(as_dtype(_type)))
    register(as_dtype(_type).type, _cast(as_dtype(_type)))
register(np.float16, _cast(np.dtype(np.float16)))
register(types.float16, _cast(np.dtype(np.float16)))
register(builtins.int, _cast(np.dtype(np.int64)))
register(builtins.float, _cast(np.dtype(np.float64)))
register(builtins.bool, _cast(np.dtype(np.bool_)))
register(builtins.complex, _complex)
register(builtins.divmod, _divmod)
register(builtins.ord, _ord)
register(builtins.sum, _sum)
register(builtins.print, _print)
register(math.modf, _two_results(np.modf, (None, None)))
register(math.frexp, _two_results(np.frexp, (None, np.int32)))
register(builtins.len, _length)
register(cuda.shared.array, _shared_array)
register(cuda.local.array, _local_array)
register(cuda.const.array_like, _constant_array)
register(cuda.grid, _grid)
register(cuda.gridsize, _gridsize)
register(cuda.syncthreads, _syncthreads)
register(cuda.syncthreads_count, _block_vote(lambda votes, voters: votes))
register(cuda.syncthreads_and, _block_vote(lambda votes, voters: votes == voters))
register(cuda.syncthreads_or, _block_vote(lambda votes, voters: votes > 0))
register(cuda.threadfence, _fence)
register(cuda.threadfence_system, _fence)
register(cuda.threadfence_block, _block_fence)
register(cuda.cg.this_grid, _this_grid)
register(cuda.nanosleep, _nothing)
register(cuda.fma, _fma)
register(cuda.selp, _select)
_register_named(cuda, {"cbrt": _cube_root})
_register_named(cuda, warps.HANDLERS)
_register_named(cuda.atomic, atomics.HANDLERS)


def handler_of(function) -> Callable | None:
    """What compiles a call of this function; None where the virtual GPU does not know it."""
    entry = _HANDLERS.get(id(function))
    if entry is None and isinstance(function, np.ufunc) and function in operations.UFUNCS:
        return _typed
    return entry[1] if entry else None


def device_function(function) -> Callable | None:
    """The Python function behind a ``@cuda.jit`` or ``@njit`` function that a kernel may call."""
    python = getattr(function, "py_func", None)
    return python if hasattr(function, "targetoptions") else None
