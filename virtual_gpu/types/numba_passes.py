"""Numba's own type inference for its CUDA target, stopped before it makes code.

Only this module knows Numba's compiler passes. No device is needed.
"""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from numba.core import types
from numba.core.target_extension import target_override
from numba.cuda.compiler import CUDACompiler, CUDAFlags
from numba.cuda.descriptor import cuda_target
from numba.cuda.dispatcher import CUDADispatcher

try:
    from numba.cuda import typing
    from numba.cuda.compiler import (
        CUDABytecodeInterpreter,
        FunctionPass,
        PassManager,
        register_pass,
    )
    from numba.cuda.core import ir
    from numba.cuda.core.compiler import _EarlyPipelineCompletion
    from numba.cuda.core.compiler_lock import global_compiler_lock
    from numba.cuda.core.interpreter import Assigner
    from numba.cuda.core.typed_passes import type_inference_stage

    PLAIN_NUMBA = False
except ImportError:  # plain numba, which brings a CUDA target of its own
    from numba.core import ir, typing
    from numba.core.compiler import _EarlyPipelineCompletion
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.compiler_machinery import FunctionPass, PassManager, register_pass
    from numba.core.interpreter import Assigner
    from numba.core.interpreter import Interpreter as CUDABytecodeInterpreter
    from numba.core.typed_passes import type_inference_stage

    PLAIN_NUMBA = True


@dataclass(frozen=True)
class Statement:
    """One assignment of Numba's intermediate code.

    line: where it stands. target: the variable without its SSA version; ``temporary`` if the
    function's text does not name it. variable: the variable that it copies, or None. joined: the
    type of what this value becomes where several paths meet in one expression, or None.
    """

    line: int
    target: str
    temporary: bool
    variable: str | None
    type: types.Type
    joined: types.Type | None


class Refused(Exception):
    """Numba refuses a function: the line (or None), and what is wrong."""


@global_compiler_lock
def typed_statements(
    function: Callable, arguments: tuple[types.Type, ...], return_type_of: Callable
) -> tuple[list[Statement], types.Type]:
    """The assignments of a plain Python function in SSA form, and the type that it returns.

    ``return_type_of(function, arguments)`` types a device function that it calls; None leaves that
    to Numba. Raises Refused where Numba refuses the function.
    """
    with warnings.catch_warnings(), target_override("cuda"), _callees_typed_by(return_type_of):
        warnings.simplefilter("ignore")
        try:
            types_of, returned = _compiled_by(_UpToTypes, function, arguments)
            code = _compiled_by(_UpToVersions, function, arguments)
        except RecursionError:
            raise
        except Exception as error:  # Numba raises many kinds; each means "refused"
            raise Refused(*_line_and_reason(str(error))) from error
    assignments = [
        node
        for label in sorted(code.blocks)
        for node in code.blocks[label].body
        if isinstance(node, ir.Assign)
    ]
    return _statements(assignments, types_of), returned


def _compiled_by(compiler: type[CUDACompiler], function: Callable, arguments: tuple):
    flags = CUDAFlags()
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.error_model = "numpy"
    contexts = (cuda_target.typing_context, cuda_target.target_context)
    return compiler(*contexts, None, arguments, None, flags, {}).compile_extra(function)


def _statements(assignments: list[ir.Assign], types_of: dict[str, types.Type]) -> list[Statement]:
    """Every assignment with its type. Numba itself leaves out many temporaries: one has the type of
    the variable that it copies, or that it is copied to."""
    copied_to = {
        node.value.name: node.target.name
        for node in assignments
        if isinstance(node.value, ir.Var) and node.target.name in types_of
    }
    joined = _joined_types(assignments, types_of)
    found = []
    for node in assignments:
        names = (node.target.name, _copied(node), copied_to.get(node.target.name))
        kind = next((types_of[name] for name in names if name in types_of), None)
        if kind is not None and not _is_bookkeeping(node):
            found.append(_statement(node, kind, joined.get(node.target.name)))
    return found


def _copied(node: ir.Assign) -> str | None:
    """The name of the variable that is copied; None for any other value."""
    return node.value.name if isinstance(node.value, ir.Var) else None


def _statement(node: ir.Assign, kind: types.Type, joined: types.Type | None) -> Statement:
    variable = _name(node.value) if isinstance(node.value, ir.Var) else None
    target = node.target
    return Statement(node.loc.line, _name(target), target.is_temp, variable, kind, joined)


def _line_and_reason(message: str) -> tuple[int | None, str]:
    """What Numba says about a function of the file <types>, without its list of candidates."""
    places = re.findall(r"<types>(?:\", line | \()(\d+)", message)
    said = [line.strip(" >") for line in message.splitlines() if line.strip()]
    said = [line for line in said if not line.startswith("Failed in")] or ["an internal error"]
    ends_with_call = said[0].endswith("signature:") and len(said) > 1
    reason = f"{said[0]} {said[1]}" if ends_with_call else said[0]
    return int(places[0]) if places else None, re.sub(r",? defined at <types> \(\d+\)", "", reason)


def _name(variable: ir.Var) -> str:
    """The name in the function's text; versions are counted behind a dot, or behind several."""
    return variable.name.split(".")[0]


def _is_join(node: ir.Assign) -> bool:
    return isinstance(node.value, ir.Expr) and node.value.op == "phi"


def _is_bookkeeping(node: ir.Assign) -> bool:
    """What has no counterpart in the text: joined versions, and conditions turned into bools."""
    if node.target.is_temp:
        return _is_join(node) or node.target.name.endswith("pred")
    return not isinstance(node.value, ir.Var) or not node.value.is_temp


def _joined_types(assignments: list[ir.Assign], types_of: dict[str, types.Type]) -> dict:
    """For each temporary that is copied to where paths meet, the type that it gets there."""
    meets = {
        incoming.name: types_of[node.target.name]
        for node in assignments
        if _is_join(node) and node.target.name in types_of
        for incoming in node.value.incoming_values
        if isinstance(incoming, ir.Var)
    }
    copies = [n for n in assignments if n.target.name in meets and isinstance(n.value, ir.Var)]
    return {n.value.name: meets[n.target.name] for n in copies if n.value.is_temp}


class _Interpreter(CUDABytecodeInterpreter):
    """Keeps each load and each store of a variable as a statement of its own. Numba usually merges
    them with their neighbours. The versions are the same, but types may differ: where a type is
    found to be wider later, it counts what was computed with the narrower one before."""

    def _start_new_block(self, *arguments) -> None:
        super()._start_new_block(*arguments)
        self.assigner = _KeepAll()

    def _remove_unused_temporaries(self) -> None:
        """None is unused."""


class _KeepAll(Assigner):
    def assign(self, srcvar, destvar):
        return srcvar

    def get_assignment_source(self, destname):
        return None


@register_pass(mutates_CFG=True, analysis_only=False)
class _ReadBytecode(FunctionPass):
    _name = "virtual_gpu_read_bytecode"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state) -> bool:
        state["func_ir"] = _Interpreter(state["func_id"]).interpret(state["bc"])
        return True


@register_pass(mutates_CFG=False, analysis_only=True)
class _InferTypes(FunctionPass):
    _name = "virtual_gpu_infer_types"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state) -> None:
        result = type_inference_stage(
            state.typingctx, state.targetctx, state.func_ir, state.args, None, {}
        )
        raise _EarlyPipelineCompletion((result.typemap, result.return_type))


@register_pass(mutates_CFG=False, analysis_only=True)
class _GiveCode(FunctionPass):
    _name = "virtual_gpu_give_code"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state) -> None:
        raise _EarlyPipelineCompletion(state.func_ir)


class _UpToTypes(CUDACompiler):
    """Numba's own passes up to the types: a dict from versions of variables to types, and the type
    that the function returns."""

    def define_pipelines(self) -> list[PassManager]:
        (whole,) = super().define_pipelines()
        names = [implementation.__name__ for implementation, _ in whole.passes]
        before = whole.passes[: names.index("NopythonTypeInference")]
        return [_passes(*before, (_InferTypes, "types"))]


class _UpToVersions(CUDACompiler):
    """The intermediate code with versions of variables, as _Interpreter reads it."""

    def define_pipelines(self) -> list[PassManager]:
        (whole,) = super().define_pipelines()
        names = [implementation.__name__ for implementation, _ in whole.passes]
        before = [
            (_ReadBytecode if name in ("TranslateByteCode", "CUDATranslateBytecode") else i, text)
            for name, (i, text) in zip(names, whole.passes, strict=True)
        ]
        return [_passes(*before[: names.index("ReconstructSSA") + 1], (_GiveCode, "code"))]


def _passes(*passes: tuple[type, str]) -> PassManager:
    manager = PassManager("virtual_gpu")
    for implementation, description in passes:
        manager.add_pass(implementation, description)
    manager.finalize()
    return manager


@contextlib.contextmanager
def _callees_typed_by(return_type_of: Callable) -> Iterator[None]:
    """Device functions are typed, not compiled, while a caller is."""
    call_template, overload = CUDADispatcher.get_call_template, CUDADispatcher.get_overload
    CUDADispatcher.get_call_template = _typed_by(return_type_of, call_template)
    CUDADispatcher.get_overload = _compiled_if_asked_for(overload)
    try:
        yield
    finally:
        CUDADispatcher.get_call_template, CUDADispatcher.get_overload = call_template, overload


def _typed_by(return_type_of: Callable, call_template: Callable) -> Callable:
    """A dispatcher's method ``call_template``, which asks ``return_type_of`` first."""

    def typed(self, args, kws):
        if not self._can_compile:  # declared with signatures: arguments will be cast to them
            return call_template(self, args, kws)
        pysig, folded = self.fold_argument_types(args, kws)
        returned = return_type_of(self.py_func, tuple(folded))
        if returned is None and PLAIN_NUMBA:  # it forgets to fold f(*x), so that min() fails
            return call_template(self, folded, {})
        if returned is None:
            return call_template(self, args, kws)
        name = f"CallTemplate({self.py_func.__name__})"
        signatures = [typing.signature(returned, *folded)]
        template = typing.make_concrete_template(name, self.py_func.__name__, signatures)
        return template, pysig, folded, {}

    return typed


def _compiled_if_asked_for(overload: Callable) -> Callable:
    """A dispatcher's method ``overload``, which compiles what is not compiled yet: Numba asks for
    the code of what it has itself written in Python (``@overload``)."""

    def compiled(self, sig):
        try:
            return overload(self, sig)
        except KeyError:
            self.compile_device(tuple(sig))
            return overload(self, sig)

    return compiled
