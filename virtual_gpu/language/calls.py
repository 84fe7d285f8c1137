"""Compiles the calls in a kernel's text: of intrinsics, device functions and methods."""

from __future__ import annotations

import ast
import inspect

import numpy as np

from ..common.source import Source
from ..machine.parts import is_contiguous, reshaped, store_part
from ..machine.place import Place
from ..memory.memory import Array, ArrayView
from ..types import numba_types, overloads
from ..types.numba_types import conform
from . import cures, intrinsics, reductions
from .attributes import attribute_of
from .barriers import GRID_GROUP
from .call_expression import CallExpression, Compiler
from .few_lanes import FewLanes
from .frame import Evaluate, is_scalar
from .inference import declared_kinds, type_of
from .inner_functions import InnerFunction


def compile_call(compiler: Compiler, node: ast.Call, name: str | None) -> Evaluate:
    """Return the closure that executes a call and returns its value.

    ``name`` is the variable that the result is assigned to, or None. Raises Unsupported for a call
    that kernels cannot make.
    """
    if isinstance(node.func, ast.Lambda):
        return _inner_call(compiler, node, compiler.inner_function(node.func))
    if isinstance(node.func, ast.Name) and node.func.id in compiler.inner:
        return _inner_call(compiler, node, compiler.inner[node.func.id])
    function = compiler.try_static(node.func)
    if function is None and isinstance(node.func, ast.Attribute):
        return _method_call(compiler, node)
    if function is None:
        return _callback_call(compiler, node)
    handler = intrinsics.handler_of(function)
    if handler is not None:
        return handler(CallExpression(compiler, node, name, function))
    python = intrinsics.device_function(function)
    if python is None and overloads.is_overloaded(function):
        return _overloaded_call(compiler, node, function)
    if python is None:
        raise compiler.source.refuse(node, cures.unknown_call(node, function))
    return _device_call(compiler, node, function)


def _method_call(compiler: Compiler, node: ast.Call) -> Evaluate:
    """Compile a method call.

    Kernels can call ``grid.sync()`` and ``x.fill(value)``, which return None, ``x.reshape(n)``,
    ``x.transpose()``, ``z.conjugate()``, ``z.item()``, ``n.bit_count()``, ``items.index(value)`` of
    a tuple, and reductions such as ``x.sum()``. The closure returns the value of the call and
    raises Unsupported for any other call.
    """
    owner, name = compiler.expression(node.func.value), node.func.attr
    source, site = compiler.source, compiler.source.site(node)
    arguments = [compiler.expression(a) for a in node.args]
    reduce = reductions.method(CallExpression(compiler, node, None, None), name)

    def evaluate(frame, mask):
        value, inputs = owner(frame, mask), [a(frame, mask) for a in arguments]
        if value is GRID_GROUP and name == "sync" and not inputs:
            return frame.run.grid_barrier(mask, site)
        if is_scalar(value) and name == "conjugate" and not inputs:
            return np.conjugate(value)
        if is_scalar(value) and name == "item" and not inputs:
            return value
        if isinstance(value, tuple) and name == "index" and len(inputs) == 1:
            return _index_in(compiler, node, value, inputs[0])
        if reduce is not None and isinstance(value, Array) and not inputs and not node.keywords:
            return reduce(frame, mask, value)
        if isinstance(value, ArrayView) and name in ("reshape", "transpose"):
            return _rearranged(compiler, node, value, inputs)
        if is_scalar(value) and name == "bit_count" and not inputs and value.dtype.kind in "iu":
            return np.bitwise_count(value.view(f"u{value.dtype.itemsize}")).astype(np.int64)
        fills = name == "fill" and len(inputs) == 1 and is_scalar(inputs[0])
        is_array = isinstance(value, Array)
        if is_array and fills and store_part(Place(frame.run, value, (), mask, site), *inputs):
            return None
        if attribute_of(value, name) is not None:
            raise source.refuse(node, cures.needless_call(node))
        raise source.refuse(node, f"a call of {ast.unparse(node.func)}()")

    return evaluate


def _index_in(compiler: Compiler, node: ast.Call, items: tuple, wanted) -> np.int64:
    """Return the position in ``items`` of the first item that equals ``wanted``, counted from 0.

    Raises Unsupported if there is none, or if a value is no number that all threads share.
    """
    constant = all(isinstance(value, np.generic) for value in (*items, wanted))
    if not constant or wanted not in items:
        raise compiler.source.refuse(node, f"a call of {ast.unparse(node.func)}() of these values")
    return np.int64(items.index(wanted))


def _rearranged(compiler: Compiler, node: ast.Call, array: ArrayView, inputs: list) -> ArrayView:
    """Return a view: ``x.reshape(shape)`` of a contiguous array, or ``x.transpose()``.

    Raises Unsupported if the array or the arguments do not allow that.
    """
    source = compiler.source
    if node.func.attr == "transpose" and not inputs:
        return attribute_of(array, "T")
    shape = inputs[0] if len(inputs) == 1 and isinstance(inputs[0], tuple) else tuple(inputs)
    uniform = all(isinstance(extent, np.integer) for extent in shape)
    if node.func.attr != "reshape" or node.keywords or not shape or not uniform:
        raise source.refuse(node, f"{ast.unparse(node)}, called with these arguments,")
    if not is_contiguous(array):
        raise source.refuse(node, f"a reshape of {array.name}, which is not contiguous,")
    result = reshaped(array, tuple(map(int, shape)))
    if result is None:
        what = f"a reshape of {array.name} (shape {array.shape}) to another number of elements"
        raise source.refuse(node, what)
    return result


def _device_call(compiler: Compiler, node: ast.Call, function) -> Evaluate:
    """Compile a call of a device function; the closure runs it in the active lanes.

    The closure returns the value of the call. Arguments are cast to the types of a declared
    signature, if there is one. Flags and device arrays of the function are added to those of
    ``compiler``, except for a recursive call. Raises Unsupported if the arguments do not fit the
    function's parameters.
    """
    python, source = function.py_func, compiler.source
    if python is not source.function:  # a recursive function cannot be compiled before itself
        program = compiler.compile_function(python)
        compiler.cooperative |= program.cooperative
        compiler.syncs_grid |= program.syncs_grid
        compiler.uses_lock |= program.uses_lock
        compiler.device_arrays |= program.device_arrays
        source = program.source
    ordered = _ordered(compiler, node, source)
    arguments = [compiler.expression(a) for a in ordered]
    constants = [compiler.literal(a) for a in ordered]
    few_lanes = FewLanes(compiler, frozenset())

    def evaluate(frame, mask):
        program = compiler.compile_function(python)
        values = source.filled(tuple(a(frame, mask) for a in arguments))
        values = tuple(numba_types.scalar(v) if _is_plain(v) else v for v in values)
        declared = declared_kinds(function, values)
        values, literals = conform(values, declared), ()
        if declared is None:
            literals = tuple(constant(frame) for constant in constants)
        returned = few_lanes.call(program, frame.run, mask, values, literals)
        if returned is not None:
            return returned[0]
        return program.call(frame.run, values, mask, literals=literals)

    return evaluate


def _inner_call(compiler: Compiler, node: ast.Call, inner: InnerFunction) -> Evaluate:
    """Compile a call of an inner function; the closure returns the value of the call.

    The outer variables that the inner function reads become further arguments. Flags and device
    arrays of the function are added to those of ``compiler``.
    """
    program = inner.program
    compiler.cooperative |= program.cooperative
    compiler.uses_lock |= program.uses_lock
    compiler.device_arrays |= program.device_arrays
    free = [ast.keyword(n, ast.copy_location(ast.Name(n, ast.Load()), node)) for n in inner.free]
    whole = ast.copy_location(ast.Call(node.func, node.args, [*node.keywords, *free]), node)
    ordered = _ordered(compiler, whole, program.source)
    arguments = [compiler.expression(a) for a in ordered]
    constants = [compiler.literal(a) for a in ordered]

    def evaluate(frame, mask):
        values = tuple(a(frame, mask) for a in arguments)
        literals = tuple(constant(frame) for constant in constants)
        return program.call(frame.run, values, mask, literals=literals)

    return evaluate


def _ordered(compiler: Compiler, node: ast.Call, callee: Source) -> list[ast.expr]:
    """Return the arguments of a call in the order of the callee's parameters.

    A default takes the place of an argument that is left out before one that is given by name.
    Arguments at the end that are left out are missing in the result. Raises Unsupported for a call
    that does not fit the parameters.
    """
    parameters = callee.parameters
    positional = dict(zip(parameters, node.args, strict=False))
    named = {k.arg: k.value for k in node.keywords}
    given = {**positional, **named}
    first_default = len(parameters) - len(callee.defaults)
    defaults = dict(zip(parameters[first_default:], callee.defaults, strict=True))
    fits = len(node.args) <= len(parameters) and not named.keys() & positional.keys()
    if fits and given.keys() <= set(parameters) <= given.keys() | defaults.keys():
        last = max((parameters.index(name) for name in given), default=-1)
        return [
            given[name] if name in given else ast.copy_location(ast.Constant(defaults[name]), node)
            for name in parameters[: last + 1]
        ]
    signature = f"{callee.name}({', '.join(parameters)})"
    raise compiler.source.refuse(node, f"a call that does not fit {signature}")


def _is_plain(value) -> bool:
    """Return True for a Python number or bool, or an instance of a subclass."""
    return isinstance(value, bool | int | float | complex)


_ARRAY_MAKERS = (np.array, np.empty, np.full, np.ones, np.zeros)


def _overloaded_call(compiler: Compiler, node: ast.Call, function) -> Evaluate:
    """Compile a call of a function for which Numba has Python implementations (``@overload``).

    The types of the arguments select the implementation when the call runs. The closure returns the
    value of the call, and raises Unsupported if no implementation fits the types.
    """
    source = compiler.source
    arguments = [compiler.expression(a) for a in node.args]
    named = {k.arg: compiler.expression(k.value) for k in node.keywords}

    def evaluate(frame, mask):
        positional = tuple(a(frame, mask) for a in arguments)
        by_name = {name: value(frame, mask) for name, value in named.items()}
        try:
            kinds = {name: type_of(value) for name, value in by_name.items()}
            python = overloads.implementation(function, tuple(map(type_of, positional)), kinds)
        except ValueError:  # an argument that Numba has no type for
            python = None
        if python is None and function in _ARRAY_MAKERS:
            raise source.refuse_array(node)
        if python is None and cures.is_numpy(function):
            raise source.refuse(node, cures.unknown_call(node, function))
        if python is None:
            raise source.refuse(node, _types_unknown(node, (*positional, *by_name.values())))
        bound = inspect.signature(python).bind(*positional, **by_name)
        bound.apply_defaults()
        values = tuple(numba_types.scalar(v) if _is_plain(v) else v for v in bound.args)
        return compiler.compile_function(python).call(frame.run, values, mask)

    return evaluate


def _types_unknown(node: ast.Call, values: tuple) -> str:
    """Return the text for an error about a call for whose values there is no overload.

    It is a noun phrase, such as ``a call of np.dot() with these types``. If one of the values is an
    array, it says instead that a kernel computes element by element.
    """
    call = f"a call of {ast.unparse(node.func)}()"
    if any(isinstance(value, Array) for value in values):
        return f"{call} with an array (a kernel computes element by element)"
    return f"{call} with these types"


def _callback_call(compiler: Compiler, node: ast.Call) -> Evaluate:
    """Compile a call of a function that was passed to the kernel's function as an argument.

    Which function that is becomes known when the call runs. The closure returns the value of the
    call. It raises Unsupported unless the function is an intrinsic, or a device function that is
    called without keyword arguments and with one positional argument per parameter.
    """
    callee, source = compiler.expression(node.func), compiler.source
    arguments = [compiler.expression(a) for a in node.args]
    compiled_calls: dict[int, Evaluate] = {}  # compiled calls of intrinsics, by the function's id

    def evaluate(frame, mask):
        function = callee(frame, mask)
        handler = intrinsics.handler_of(function)
        if handler is not None:
            if id(function) not in compiled_calls:
                call = CallExpression(compiler, node, None, function)
                compiled_calls[id(function)] = handler(call)
            return compiled_calls[id(function)](frame, mask)
        python = intrinsics.device_function(function)
        if python is None or node.keywords:
            raise source.refuse(node, f"a call of {ast.unparse(node.func)}()")
        program = compiler.compile_function(python)
        values = tuple(a(frame, mask) for a in arguments)
        if len(values) != len(program.source.parameters):
            raise source.refuse(node, "a call with another number of arguments")
        return program.call(frame.run, conform(values, declared_kinds(function, values)), mask)

    return evaluate
