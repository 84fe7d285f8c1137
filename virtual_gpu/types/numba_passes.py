"""Numba's own type inference for its CUDA target, stopped before code generation.

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
except ImportError:  # plain numba has a CUDA target of its own
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
    """One assignment of Numba's intermediate representation.

    ``line`` is its line in the source. ``target`` is the variable without its SSA version, and
    ``temporary`` is True if the function's text does not name it. ``variable`` is the variable that
    it copies, or None. ``type`` is the type of the assigned value. ``joined`` is the type that this
    value gets where several paths meet in one expression, or None.
    """

    line: int
    target: str
    temporary: bool
    variable: str | None
    type: types.Type
    joined: types.Type | None


class Refused(Exception):
    """Raised if Numba refuses a function; its arguments are the line (or None) and the reason."""


@global_compiler_lock
def typed_statements(
    function: Callable, arguments: tuple[types.Type, ...], return_type_of: Callable
) -> tuple[list[Statement], types.Type]:
    """Return the assignments of a plain Python function in SSA form, and its return type.

    The assignments are in the order of the code. ``return_type_of(function, arguments)`` returns
    the type of a call of a device function, or None to leave that to Numba. Raises Refused if Numba
    refuses the function, and RecursionError if the stack has no room left for Numba's compiler.
    """
    with warnings.catch_warnings(), target_override("cuda"), _callees_typed_by(return_type_of):
        warnings.simplefilter("ignore")
        try:
            types_of, returned = _run_compiler(_UpToTypes, function, arguments)
            code = _run_compiler(_UpToVersions, function, arguments)
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


def _run_compiler(compiler: type[CUDACompiler], function: Callable, arguments: tuple):
    """Run a pipeline of Numba's compiler on a Python function and return its result.

    ``arguments`` are Numba types. The result is what the last pass of ``compiler`` ends with: for
    _UpToTypes the tuple (dict from variables to types, return type of the function), and for
    _UpToVersions the intermediate representation.
    """
    flags = CUDAFlags()
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.error_model = "numpy"
    contexts = (cuda_target.typing_context, cuda_target.target_context)
    return compiler(*contexts, None, arguments, None, flags, {}).compile_extra(function)


def _statements(assignments: list[ir.Assign], types_of: dict[str, types.Type]) -> list[Statement]:
    """Return the assignments with their types, in order.

    Assignments that the text does not contain are left out. Numba itself has no type for many
    temporaries. Such a variable gets the type of the variable that it copies, or of the one that it
    is copied to; its assignment is left out if neither has a type. ``types_of`` maps the names of
    variables to their types.
    """
    copied_to = {
        node.value.name: node.target.name
        for node in assignments
        if isinstance(node.value, ir.Var) and node.target.name in types_of
    }
    joined = _joined_types(assignments, types_of)
    statements = []
    for node in assignments:
        names = (node.target.name, _copied(node), copied_to.get(node.target.name))
        kind = next((types_of[name] for name in names if name in types_of), None)
        if kind is not None and not _is_bookkeeping(node):
            statements.append(_statement(node, kind, joined.get(node.target.name)))
    return statements


def _copied(node: ir.Assign) -> str | None:
    """Return the name of the variable that an assignment copies; None for any other value."""
    return node.value.name if isinstance(node.value, ir.Var) else None


def _statement(node: ir.Assign, kind: types.Type, joined: types.Type | None) -> Statement:
    """Return the Statement of an assignment, whose value has the type ``kind``.

    ``joined`` is the type that the variable has where several paths meet, or None.
    """
    variable = _name(node.value) if isinstance(node.value, ir.Var) else None
    target = node.target
    return Statement(node.loc.line, _name(target), target.is_temp, variable, kind, joined)


def _line_and_reason(message: str) -> tuple[int | None, str]:
    """Return line and reason from Numba's message about a function of the file <types>.

    The line is the first one that the message names, or None if it names none. Numba's list of
    candidates is left out of the reason, which is "an internal error" for an empty message.
    """
    lines = re.findall(r"<types>(?:\", line | \()(\d+)", message)
    sentences = [line.strip(" >") for line in message.splitlines() if line.strip()]
    sentences = [line for line in sentences if not line.startswith("Failed in")]
    first, *others = sentences or ["an internal error"]
    reason = f"{first} {others[0]}" if first.endswith("signature:") and others else first
    return int(lines[0]) if lines else None, re.sub(r",? defined at <types> \(\d+\)", "", reason)


def _name(variable: ir.Var) -> str:
    """Return a variable's name in the function's text, without the version that Numba adds.

    Numba writes the version after one or several dots.
    """
    return variable.name.split(".")[0]


def _is_join(node: ir.Assign) -> bool:
    """Return True for an assignment in which the values of several paths meet."""
    return isinstance(node.value, ir.Expr) and node.value.op == "phi"


def _is_bookkeeping(node: ir.Assign) -> bool:
    """Return True for an assignment without a counterpart in the text.

    That is a joined version, a condition that is turned into a bool, the value of a parameter, or a
    copy of a named variable.
    """
    if node.target.is_temp:
        return _is_join(node) or node.target.name.endswith("pred")
    return not isinstance(node.value, ir.Var) or not node.value.is_temp


def _joined_types(assignments: list[ir.Assign], types_of: dict[str, types.Type]) -> dict:
    """Return a dict from the names of temporaries to the types that they get where paths meet.

    Only a temporary whose value is copied to a variable that joins several paths is in the dict.
    ``types_of`` maps the names of variables to their types.
    """
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
    """Numba's bytecode interpreter, but each load and store of a variable remains a statement.

    Numba usually merges them with their neighbours. The versions are the same, but types may
    differ: if Numba finds a wider type later, results that it computed with the narrower type
    count, too.
    """

    def _start_new_block(self, *arguments) -> None:
        super()._start_new_block(*arguments)
        self.assigner = _KeepAll()

    def _remove_unused_temporaries(self) -> None:
        """Do nothing, because each temporary is used."""


class _KeepAll(Assigner):
    """An assigner of Numba's bytecode interpreter that merges no assignments."""
    def assign(self, srcvar, destvar):
        """Return ``srcvar``, the variable whose value is assigned, so that nothing is merged."""
        return srcvar

    def get_assignment_source(self, destname):
        """Return None, because no assignment was merged."""
        return None


@register_pass(mutates_CFG=True, analysis_only=False)
class _ReadBytecode(FunctionPass):
    """A compiler pass that stores the function's code, as _Interpreter reads it, in ``func_ir``."""
    _name = "virtual_gpu_read_bytecode"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state) -> bool:
        state["func_ir"] = _Interpreter(state["func_id"]).interpret(state["bc"])
        return True


@register_pass(mutates_CFG=False, analysis_only=True)
class _InferTypes(FunctionPass):
    """A compiler pass that infers types and ends the compilation.

    The result of the compilation is (dict from variables to types, return type of the function).
    """
    _name = "virtual_gpu_infer_types"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state) -> None:
        result = type_inference_stage(
            state.typingctx, state.targetctx, state.func_ir, state.args, None, {}
        )
        raise _EarlyPipelineCompletion((result.typemap, result.return_type))


@register_pass(mutates_CFG=False, analysis_only=True)
class _ReturnCode(FunctionPass):
    """A compiler pass that ends the compilation; its result is the intermediate representation."""
    _name = "virtual_gpu_give_code"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state) -> None:
        raise _EarlyPipelineCompletion(state.func_ir)


class _UpToTypes(CUDACompiler):
    """A compiler that runs Numba's own passes up to type inference.

    It returns the tuple (dict from versions of variables to types, return type of the function).
    """

    def define_pipelines(self) -> list[PassManager]:
        (whole,) = super().define_pipelines()
        names = [implementation.__name__ for implementation, _ in whole.passes]
        before = whole.passes[: names.index("NopythonTypeInference")]
        return [_pass_manager(*before, (_InferTypes, "types"))]


class _UpToVersions(CUDACompiler):
    """A compiler that runs Numba's passes up to SSA form, with _Interpreter.

    It returns the intermediate representation.
    """

    def define_pipelines(self) -> list[PassManager]:
        (whole,) = super().define_pipelines()
        names = [implementation.__name__ for implementation, _ in whole.passes]
        before = [
            (_ReadBytecode if name in ("TranslateByteCode", "CUDATranslateBytecode") else i, text)
            for name, (i, text) in zip(names, whole.passes, strict=True)
        ]
        return [_pass_manager(*before[: names.index("ReconstructSSA") + 1], (_ReturnCode, "code"))]


def _pass_manager(*passes: tuple[type, str]) -> PassManager:
    """Return a PassManager that runs these (pass, description) in order."""
    manager = PassManager("virtual_gpu")
    for implementation, description in passes:
        manager.add_pass(implementation, description)
    manager.finalize()
    return manager


@contextlib.contextmanager
def _callees_typed_by(return_type_of: Callable) -> Iterator[None]:
    """Inside the context, let ``return_type_of`` type the device functions that are called.

    ``return_type_of(function, arguments)`` is as in ``typed_statements``. A function that it types
    is not compiled. Two methods of Numba's CUDADispatcher are replaced meanwhile.
    """
    call_template, overload = CUDADispatcher.get_call_template, CUDADispatcher.get_overload
    CUDADispatcher.get_call_template = _typed_by(return_type_of, call_template)
    CUDADispatcher.get_overload = _compiled_on_demand(overload)
    try:
        yield
    finally:
        CUDADispatcher.get_call_template, CUDADispatcher.get_overload = call_template, overload


def _typed_by(return_type_of: Callable, call_template: Callable) -> Callable:
    """Return a method to replace ``CUDADispatcher.get_call_template``.

    It uses the type that ``return_type_of`` returns for a call, and the old method
    ``call_template`` if that is None or the dispatcher has declared signatures.
    """

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


def _compiled_on_demand(overload: Callable) -> Callable:
    """Return a method to replace ``CUDADispatcher.get_overload``.

    It compiles an overload that the old method ``overload`` does not find. Numba asks for the code
    of functions that it has itself written in Python (``@overload``).
    """

    def compiled(self, sig):
        try:
            return overload(self, sig)
        except KeyError:
            self.compile_device(tuple(sig))
            return overload(self, sig)

    return compiled
