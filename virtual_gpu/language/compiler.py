"""Compiles a Python function into a Program that runs on lanes; programs are cached.

Code that the virtual GPU does not know is refused here, before the kernel starts.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from dataclasses import dataclass, field

from ..common.errors import Unsupported, too_deep
from ..common.source import ANY_RANK, ParameterUse, Source, parameter_uses, read_source
from . import intrinsics
from .expressions import Expressions
from .inference import Inference
from .program import Program
from .statements import Statements


@dataclass(frozen=True)
class _Callers:
    """The functions that are being compiled, the outermost first.

    All instances compare equal, so that the cache ignores them: a program does not depend on its
    callers.
    """

    functions: tuple[Callable, ...] = field(default=(), compare=False)


def compile_function(function: Callable) -> Program:
    """Return the Program of a plain Python function.

    It is compiled at the first call for this function; later calls return the same Program. Like
    Numba, it freezes the values of globals and closure variables at that time. Raises Unsupported
    for code that the virtual GPU does not know or that is nested too deeply.
    """
    try:
        return _compiled(function, _Callers())
    except RecursionError:
        raise Unsupported(too_deep(function.__name__)) from None


@functools.lru_cache(maxsize=1024)
def _compiled(function: Callable, callers: _Callers) -> Program:
    """Return the Program of a function that ``callers`` call.

    A function that calls itself directly is compiled. Raises Unsupported for one that calls itself
    through others, and for code that the virtual GPU does not know.
    """
    source = read_source(function)
    if function in callers.functions:
        others = callers.functions[callers.functions.index(function) + 1 :]
        names = " and ".join(f.__name__ for f in others)
        raise source.refuse(source.tree, f"a function that calls itself through {names}")
    return _program(source, _Callers((*callers.functions, function)))


def _program(source: Source, callers: _Callers) -> Program:
    """Compile the text of a function, and of the functions in it, into a Program.

    ``callers`` are the functions that are being compiled, this one included. Raises Unsupported for
    code that the virtual GPU does not know.
    """
    expressions = Expressions(
        source, lambda callee: _compiled(callee, callers), lambda inner: _program(inner, callers)
    )
    statements = Statements(expressions)
    body = statements.block(source.tree.body)
    inference = Inference(source, lambda callee: compile_function(callee).inference)
    uses = parameter_uses(source.tree, functools.partial(_use_by_callee, expressions))
    return Program(
        source, body, inference, uses,
        expressions.cooperative, expressions.uses_lock, expressions.syncs_grid,
        expressions, statements.stores_by_data, expressions.device_arrays,
    )  # fmt: skip


def _use_by_callee(expressions: Expressions, call: ast.Call, position: int) -> ParameterUse | None:
    """Return the called function's ParameterUse of the argument at this position of the call.

    Positions count from 0. Returns None for an inner function, a recursive call, and a function
    whose use of the argument is unknown.
    """
    if isinstance(call.func, ast.Lambda) or getattr(call.func, "id", None) in expressions.inner:
        return None
    function = expressions.try_static(call.func)
    python = intrinsics.device_function(function)
    if python is expressions.source.function:  # a recursive call
        return None
    # In plain Numba, shuffles are device functions, too.
    if python is not None and not intrinsics.handler_of(function):
        program = compile_function(python)
        return program.uses.get(program.source.parameters[position])
    if intrinsics.only_reads(function, position):
        return ParameterUse(may_write=False, fewest_indices=ANY_RANK)
    return None
