"""Turn the text of a submission into functions without running any of it.

Numba types byte code without calling it, and the virtual GPU interprets the syntax tree. So a
function definition is compiled, its code object is taken out, and its names are those of
`allow_list` and of the submission's own constants and functions. Decorators are interpreted here;
annotations are dropped, and defaults are refused.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import CodeType, FunctionType

from numba import cuda, njit

from labs.grading import allow_list
from labs.grading.allow_list import NotAllowed
from labs.grading.lines import register
from virtual_gpu import Unsupported
from virtual_gpu.common.source import read_source

OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Div: operator.truediv, ast.Mod: operator.mod,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift,
}  # fmt: skip
# Packages that a lesson's cells import for other purposes; their names are ignored silently.
OF_A_LESSON = (
    "labs", "utils", "virtual_gpu", "gpu_xray", "gemm_kernels", "reduce_kernels", "latency_kernels",
    "__future__",
)  # fmt: skip


@dataclass
class _Names:
    """The names that a submission defines.

    modules: maps a name to the module that it stands for. values: the globals of all its functions.
    definitions: the definitions of each function, with the file in which its lines are counted.
    unknown: names without a usable value, with the reason. files: for each piece, the number of the
    submission's file that holds it.
    """

    modules: dict[str, str] = field(default_factory=dict)
    values: dict[str, object] = field(default_factory=dict)
    definitions: dict[str, list[tuple[ast.FunctionDef, str]]] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Broken:
    """A piece that Python cannot read, the number of its file, and the error."""

    piece: str
    file: int
    error: Exception


class Missing(NotAllowed):
    """A submission has no function of the name that a task asks for."""


def functions_of(
    pieces: tuple[str, ...], wanted: tuple[str, ...], files: tuple[int, ...] = ()
) -> Mapping[str, object]:
    """Return, for each name, its function ready to launch, or a NotAllowed that says why not.

    pieces: Python source texts in order, each with its own line numbers. Statements that define
    nothing are ignored, because a lesson's cells are full of them. files: the number of the file
    that holds each piece; without it, all are of one file. A piece that Python cannot read costs
    no function of another file.
    """
    files = files or (0,) * len(pieces)
    names, broken = _Names(), []
    for number, piece in enumerate(pieces, start=1):
        try:
            tree = ast.parse(piece)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            broken.append(_Broken(piece, files[number - 1], error))
            continue
        file = f"<piece {number}>"
        names.files[file] = files[number - 1]
        register(file, piece)
        for statement in tree.body:
            _read(statement, names, file)
    _define(names)
    return {name: _wanted(name, names, broken) for name in wanted}


def _wanted(name: str, names: _Names, broken: list[_Broken]) -> object:
    found = names.definitions.get(name, ())
    definitions, own_files = [one for one, _ in found], {names.files[file] for _, file in found}
    lines = [definition.lineno for definition in definitions]
    if len({ast.dump(definition) for definition in definitions}) > 1:
        listed = ", ".join(map(str, lines))
        return NotAllowed(f"`{name}` is defined {len(lines)} times, in lines {listed}: leave one.")
    for one in broken:
        if f"def {name}(" in one.piece and (not own_files or one.file in own_files):
            line = getattr(one.error, "lineno", None)
            return NotAllowed(f"{f'Line {line}: ' if line else ''}{_parse_problem(one.error)}.")
    if not lines:
        return Missing(f"There is no function `{name}`: the task asks for one of this name.")
    return names.values.get(name) or NotAllowed(names.unknown[name])


def _parse_problem(error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return f"Python cannot read this ({error.msg})"
    return "The text is nested too deeply, or contains bytes that are no text"


def _read(statement: ast.stmt, names: _Names, file: str) -> None:
    """Record what a statement defines; ignore it if it defines nothing."""
    if isinstance(statement, ast.Import):
        _import(statement, names)
    elif isinstance(statement, ast.ImportFrom):
        _import_from(statement, names)
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        _assign(statement, names)
    elif isinstance(statement, ast.FunctionDef):
        names.definitions.setdefault(statement.name, []).append((statement, file))


def _define(names: _Names) -> None:
    """Build all functions, the last definition of each name; a function may call a later one."""
    builtins = {name: allow_list.builtin(name) for name in allow_list.BUILTINS}
    modules = {name: allow_list.MODULES[module] for name, module in names.modules.items()}
    names.values.update(modules, __builtins__=builtins)
    refused = {}
    for name, definitions in names.definitions.items():
        try:
            names.values[name] = _function(*definitions[-1], names)
        except NotAllowed as error:
            refused[name] = str(error)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            refused[name] = f"Line {definitions[-1][0].lineno}: `{name}` cannot be compiled."
    for name, why in refused.items():
        names.values.pop(name, None)
        names.unknown[name] = why


def _import(statement: ast.Import, names: _Names) -> None:
    for alias in statement.names:
        first = alias.name.split(".")[0]
        if alias.asname and alias.name in allow_list.MODULES:
            names.modules[alias.asname] = alias.name
        elif not alias.asname and first in allow_list.MODULES:
            names.modules[first] = first


def _import_from(statement: ast.ImportFrom, names: _Names) -> None:
    module = statement.module or ""
    for alias in statement.names:
        name, inner = alias.asname or alias.name, f"{module}.{alias.name}"
        if inner in allow_list.MODULES:
            names.modules[name] = inner
        elif alias.name in allow_list.PLAIN.members.get(module, ()):
            names.values[name] = getattr(allow_list.MODULES[module], alias.name)
        elif (
            inner not in ("numba.njit", "numba.cuda.jit")
            and module.split(".")[0] not in OF_A_LESSON
        ):
            names.unknown[name] = f"Line {statement.lineno} imports it from `{module}`."


def _assign(statement: ast.Assign | ast.AnnAssign, names: _Names) -> None:
    """Record constants (numbers, types or tuples of them), assigned to one name or to several."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    for target in targets:
        several = isinstance(target, ast.Tuple)
        own = [one.id for one in ast.walk(target) if isinstance(one, ast.Name)]
        try:
            value = _constant(statement.value, names) if statement.value else None
            values = value if several else (value,)
            names.values.update(zip(own, values, strict=True))
        except (NotAllowed, ArithmeticError, TypeError, ValueError, RecursionError):
            for name in own:
                names.values.pop(name, None)
                names.unknown[name] = f"Line {statement.lineno} gives it no constant."


def _constant(node: ast.expr, names: _Names) -> object:
    """Return the value of an expression of numbers, types and tuples of them.

    Raises NotAllowed for any other expression.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | bool):
        return _small(node.value)
    if isinstance(node, ast.Name) and node.id in names.values:
        return names.values[node.id]
    if isinstance(node, ast.Tuple):
        return tuple(_constant(part, names) for part in node.elts)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_constant(node.operand, names)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        left, right = (_number(_constant(part, names)) for part in (node.left, node.right))
        if isinstance(node.op, ast.LShift) and right > 62:
            raise NotAllowed("too far")
        return _small(OPERATORS[type(node.op)](left, right))
    if isinstance(node, ast.Attribute):
        module = allow_list.module_of(node.value, names.modules)
        if module and node.attr in allow_list.COMPILED.members.get(module, ()):
            return getattr(allow_list.MODULES[module], node.attr)
    raise NotAllowed("no constant")


def _number(value: object) -> int | float:
    if not isinstance(value, int | float):
        raise NotAllowed("no number")
    return value


def _small(value: int | float) -> int | float:
    if abs(value) >= allow_list.LARGEST:
        raise NotAllowed("too large")
    return value


def _function(definition: ast.FunctionDef, file: str, names: _Names) -> object:
    """Return the function with its decorator applied.

    Raises NotAllowed if the definition uses anything outside the allow-list.
    """
    options, decorator = _decorator(definition)
    bare = _bare(definition)
    try:
        rules = allow_list.COMPILED if decorator else allow_list.PLAIN
        allow_list.require_allowed(
            bare, rules, names.modules, set(names.values) | set(names.definitions)
        )
    except NotAllowed as error:
        reasons = [reason for name, reason in names.unknown.items() if f"`{name}`" in str(error)]
        raise NotAllowed(f"{error} {reasons[0]}" if reasons else str(error)) from None
    module = ast.fix_missing_locations(ast.Module([bare], []))
    whole = compile(module, file, "exec", dont_inherit=True)
    code = next(one for one in whole.co_consts if isinstance(one, CodeType))
    function = FunctionType(code, names.values, definition.name)
    _require_same_text(function, bare)
    if decorator == "cuda.jit":
        return cuda.jit(**options)(function)
    return njit(function) if decorator == "njit" else function


def _require_same_text(function: FunctionType, checked: ast.FunctionDef) -> None:
    """Raise NotAllowed if the text that will be interpreted is not the text that was checked."""
    try:
        read = ast.dump(_bare(read_source(function).tree))
    except (Unsupported, SyntaxError, IndexError):
        read = ""
    if read != ast.dump(checked):
        raise NotAllowed(
            f"Line {checked.lineno}: the lines of `{checked.name}` cannot be told apart: remove "
            "form feeds and other control characters, and write the function alone on its lines."
        )


def _decorator(definition: ast.FunctionDef) -> tuple[dict[str, bool], str | None]:
    """Return the options that change what a kernel means, and the compiler: a name, or None."""
    compiler, options = None, {}
    for decorator in definition.decorator_list:
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        text = ast.unparse(function)
        if text not in allow_list.DECORATORS:
            at = f"Line {decorator.lineno}"
            raise NotAllowed(f"{at}: the decorator `{text[:60]}` is not allowed.")
        compiler = allow_list.DECORATORS[text]
        for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
            if keyword.arg in allow_list.OPTIONS and isinstance(keyword.value, ast.Constant):
                options[keyword.arg] = bool(keyword.value.value)
    return options, compiler


def _bare(definition: ast.FunctionDef) -> ast.FunctionDef:
    """Return the definition without decorators and annotations, which must not run."""
    arguments = definition.args
    if arguments.defaults or arguments.kwonlyargs or arguments.vararg or arguments.kwarg:
        raise NotAllowed(
            f"Line {definition.lineno}: `{definition.name}` has defaults, `*` or `**`: the task "
            "needs plain parameters."
        )
    names = [ast.arg(one.arg) for one in (*arguments.posonlyargs, *arguments.args)]
    bare = ast.FunctionDef(
        name=definition.name,
        args=ast.arguments([], names, None, [], [], None, []),
        body=definition.body,
        decorator_list=[],
    )
    bare.type_params = []
    return ast.copy_location(bare, definition)
