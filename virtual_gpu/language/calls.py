"""Calls in a kernel's text: of what Numba knows in kernels, of device functions, of methods."""

from __future__ import annotations

import ast
import inspect
from types import FunctionType

import numpy as np

from ..common.source import Source
from ..machine.parts import is_contiguous, reshaped, store_part
from ..machine.place import Place
from ..memory.memory import Array, ArrayView
from ..types import numba_types, overloads
from ..types.numba_types import conform
from . import intrinsics
from .attributes import attribute_of
from .barriers import GRID_GROUP
from .call import Call, Compiler
from .frame import Evaluate, is_scalar
from .inference import declared_kinds, type_of
from .inner import InnerFunction


def compile_call(compiler: Compiler, node: ast.Call, name: str | None) -> Evaluate:
    """What evaluates a call; ``name`` is the variable that its result is assigned to."""
    if isinstance(node.func, ast.Lambda):
        return _inner_call(compiler, node, compiler.inner_function(node.func))
    if isinstance(node.func, ast.Name) and node.func.id in compiler.inner:
        return _inner_call(compiler, node, compiler.inner[node.func.id])
    function = compiler.try_static(node.func)
    if function is None and isinstance(node.func, ast.Attribute):
        return _method_call(compiler, node)
    if function is None:
        return _call_of_argument(compiler, node)
    handler = intrinsics.handler_of(function)
    if handler is not None:
        return handler(Call(compiler, node, name, function))
    python = intrinsics.device_function(function)
    if python is None and overloads.is_overloaded(function):
        return _overloaded_call(compiler, node, function)
    if python is None:
        raise compiler.source.refuse(node, _unknown_call(node, function))
    return _device_call(compiler, node, function)


def _unknown_call(node: ast.Call, function) -> str:
    what = f"a call of {ast.unparse(node.func)}()"
    if not isinstance(function, FunctionType) or function.__module__.startswith(("numba", "numpy")):
        return what
    return f"{what}, a Python function without @cuda.jit(device=True) above its def,"


def _method_call(compiler: Compiler, node: ast.Call) -> Evaluate:
    """``grid.sync()``, ``x.fill(value)``, ``x.reshape(n)``, ``z.conjugate()``: kernels have few
    methods."""
    owner, name = compiler.expression(node.func.value), node.func.attr
    source, site = compiler.source, compiler.source.site(node)
    arguments = [compiler.expression(a) for a in node.args]

    def evaluate(frame, mask):
        value, given = owner(frame, mask), [a(frame, mask) for a in arguments]
        if value is GRID_GROUP and name == "sync" and not given:
            return frame.run.grid_barrier(mask, site)
        if is_scalar(value) and name == "conjugate" and not given:
            return np.conjugate(value)
        if isinstance(value, ArrayView) and name in ("reshape", "transpose"):
            return _seen_otherwise(compiler, node, value, given)
        if is_scalar(value) and name == "bit_count" and not given and value.dtype.kind in "iu":
            return np.bitwise_count(value.view(f"u{value.dtype.itemsize}")).astype(np.int64)
        fills = name == "fill" and len(given) == 1 and is_scalar(given[0])
        is_array = isinstance(value, Array)
        if is_array and fills and store_part(Place(frame.run, value, (), mask, site), *given):
            return None
        raise source.refuse(node, f"a call of {ast.unparse(node.func)}()")

    return evaluate


def _seen_otherwise(compiler: Compiler, node: ast.Call, array: ArrayView, given: list) -> ArrayView:
    """``x.reshape(shape)`` of a contiguous array, and ``x.transpose()``."""
    source = compiler.source
    if node.func.attr == "transpose" and not given:
        return attribute_of(array, "T")
    shape = given[0] if len(given) == 1 and isinstance(given[0], tuple) else tuple(given)
    same = all(isinstance(extent, np.integer) for extent in shape)
    if node.func.attr != "reshape" or node.keywords or not shape or not same:
        raise source.refuse(node, f"{ast.unparse(node)}, called with these arguments,")
    if not is_contiguous(array):
        raise source.refuse(node, f"a reshape of {array.name}, which is not contiguous,")
    result = reshaped(array, tuple(map(int, shape)))
    if result is None:
        what = f"a reshape of {array.name} (shape {array.shape}) to another number of elements"
        raise source.refuse(node, what)
    return result


def _device_call(compiler: Compiler, node: ast.Call, function) -> Evaluate:
    python, source = function.py_func, compiler.source
    if python is not source.function:  # a call of itself is compiled with it
        program = compiler.compile_function(python)
        compiler.cooperative |= program.cooperative
        compiler.syncs_grid |= program.syncs_grid
        compiler.takes_turns |= program.takes_turns
        source = program.source
    ordered = _ordered(compiler, node, source)
    arguments = [compiler.expression(a) for a in ordered]
    constants = [compiler.literal(a) for a in ordered]

    def evaluate(frame, mask):
        program = compiler.compile_function(python)
        values = source.filled(tuple(a(frame, mask) for a in arguments))
        values = tuple(numba_types.scalar(v) if _is_plain(v) else v for v in values)
        declared = declared_kinds(function, values)
        if declared is not None:
            return program.call(frame.run, conform(values, declared), mask)
        literals = tuple(constant(frame) for constant in constants)
        return program.call(frame.run, values, mask, literals=literals)

    return evaluate


def _inner_call(compiler: Compiler, node: ast.Call, inner: InnerFunction) -> Evaluate:
    """A call of a function that is defined within this one; its free variables are passed, too."""
    program = inner.program
    compiler.cooperative |= program.cooperative
    compiler.takes_turns |= program.takes_turns
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
    """The arguments of a call in the order of the parameters; those left out have defaults."""
    given = dict(zip(callee.parameters, node.args, strict=False))
    named = {k.arg: k.value for k in node.keywords}
    ordered = [*given.values(), *(named[n] for n in callee.parameters if n in named)]
    missing = [n for n in callee.parameters if n not in given and n not in named]
    optional = callee.parameters[len(callee.parameters) - len(callee.defaults) :]
    fits = len(node.args) <= len(callee.parameters) and not named.keys() & given.keys()
    if fits and named.keys() <= set(callee.parameters) and set(missing) <= set(optional):
        if missing == list(callee.parameters[len(ordered) :]):
            return ordered
        raise compiler.source.refuse(node, "an argument left out before one that is given by name")
    signature = f"{callee.name}({', '.join(callee.parameters)})"
    raise compiler.source.refuse(node, f"a call that does not fit {signature}")


def _is_plain(value) -> bool:
    """Whether a default argument is still a plain Python number."""
    return isinstance(value, bool | int | float | complex)


_ARRAY_MAKERS = (np.array, np.empty, np.full, np.ones, np.zeros)


def _overloaded_call(compiler: Compiler, node: ast.Call, function) -> Evaluate:
    """A call of a function that has implementations in Python, chosen by the types it gets."""
    source = compiler.source
    arguments = [compiler.expression(a) for a in node.args]
    named = {k.arg: compiler.expression(k.value) for k in node.keywords}

    def evaluate(frame, mask):
        given = tuple(a(frame, mask) for a in arguments)
        by_name = {name: value(frame, mask) for name, value in named.items()}
        kinds = {name: type_of(value) for name, value in by_name.items()}
        python = overloads.implementation(function, tuple(map(type_of, given)), kinds)
        if python is None and function in _ARRAY_MAKERS:
            raise source.refuse_array(node)
        if python is None:
            raise source.refuse(node, _these_types(node, (*given, *by_name.values())))
        bound = inspect.signature(python).bind(*given, **by_name)
        bound.apply_defaults()
        values = tuple(numba_types.scalar(v) if _is_plain(v) else v for v in bound.args)
        return compiler.compile_function(python).call(frame.run, values, mask)

    return evaluate


def _these_types(node: ast.Call, values: tuple) -> str:
    """The words for a call that has no implementation for its values."""
    told = f"a call of {ast.unparse(node.func)}()"
    if any(isinstance(value, Array) for value in values):
        return f"{told} with an array (a kernel computes element by element)"
    return f"{told} with these types"


def _call_of_argument(compiler: Compiler, node: ast.Call) -> Evaluate:
    """A call of a function that came as an argument."""
    callee, source = compiler.expression(node.func), compiler.source
    arguments = [compiler.expression(a) for a in node.args]
    known: dict[int, Evaluate] = {}  # calls of what Numba knows, by the function's id

    def evaluate(frame, mask):
        function = callee(frame, mask)
        handler = intrinsics.handler_of(function)
        if handler is not None:
            if id(function) not in known:
                known[id(function)] = handler(Call(compiler, node, None, function))
            return known[id(function)](frame, mask)
        python = intrinsics.device_function(function)
        if python is None or node.keywords:
            raise source.refuse(node, f"a call of {ast.unparse(node.func)}()")
        program = compiler.compile_function(python)
        values = tuple(a(frame, mask) for a in arguments)
        if len(values) != len(program.source.parameters):
            raise source.refuse(node, "a call with another number of arguments")
        return program.call(frame.run, conform(values, declared_kinds(function, values)), mask)

    return evaluate
