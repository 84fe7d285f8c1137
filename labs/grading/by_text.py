"""From the text of a submission to functions, without running any of it.

Numba types byte code and calls nothing, and the virtual GPU interprets the syntax tree: so a
function is compiled, its code object is taken out, and its names are those of `allowed` and of the
submission's own constants and functions. Decorators, defaults and annotations are read or dropped.
"""

from __future__ import annotations

import ast
import linecache
import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import CodeType, FunctionType

from numba import cuda, njit

from labs.grading import allowed
from labs.grading.allowed import NotAllowed

OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Div: operator.truediv, ast.Mod: operator.mod,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift,
}  # fmt: skip
# What a lesson's cells hold besides the task; it is passed over in silence.
OF_A_LESSON = (
    "labs", "utils", "virtual_gpu", "gpu_xray", "gemm_kernels", "reduce_kernels", "latency_kernels",
    "__future__",
)  # fmt: skip


@dataclass
class _Names:
    """What a submission defines.

    modules: a name and the module that it stands for. values: what its functions see, shared by all
    of them. definitions: of functions, each with the file that its lines are counted in. unknown:
    names that have no value, and why.
    """

    modules: dict[str, str] = field(default_factory=dict)
    values: dict[str, object] = field(default_factory=dict)
    definitions: dict[str, list[tuple[ast.FunctionDef, str]]] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)


def functions_of(pieces: tuple[str, ...], wanted: tuple[str, ...]) -> Mapping[str, object]:
    """For each wanted name its function, ready to be launched, or the NotAllowed that says why not.

    pieces: of Python, in order, each with lines of its own. Statements that define nothing are
    passed over: a lesson's cells are full of them.
    """
    names, broken = _Names(), []
    for number, piece in enumerate(pieces, start=1):
        try:
            tree = ast.parse(piece)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            broken.append((piece, error))
            continue
        file = f"<piece {number}>"
        linecache.cache[file] = (len(piece), None, piece.splitlines(keepends=True), file)
        for statement in tree.body:
            _read(statement, names, file)
    _define(names)
    return {name: _wanted(name, names, broken) for name in wanted}


def _wanted(name: str, names: _Names, broken: list[tuple[str, Exception]]) -> object:
    found = [definition for definition, _ in names.definitions.get(name, ())]
    lines = [definition.lineno for definition in found]
    if len({ast.dump(definition) for definition in found}) > 1:
        listed = ", ".join(map(str, lines))
        return NotAllowed(f"`{name}` is defined {len(lines)} times, in lines {listed}: leave one.")
    for piece, error in broken:
        if f"def {name}(" in piece:
            line = getattr(error, "lineno", None)
            return NotAllowed(f"{f'Line {line}: ' if line else ''}{_told(error)}.")
    if not lines:
        return NotAllowed(f"There is no function `{name}`: the task asks for one of this name.")
    return names.values.get(name) or NotAllowed(names.unknown[name])


def _told(error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return f"Python cannot read this ({error.msg})"
    return "The text is nested too deeply, or holds what is no text"


def _read(statement: ast.stmt, names: _Names, file: str) -> None:
    """What a statement defines; all others are passed over."""
    if isinstance(statement, ast.Import):
        _import(statement, names)
    elif isinstance(statement, ast.ImportFrom):
        _import_from(statement, names)
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        _assign(statement, names)
    elif isinstance(statement, ast.FunctionDef):
        names.definitions.setdefault(statement.name, []).append((statement, file))


def _define(names: _Names) -> None:
    """All functions, the last of each name; one may call another that stands below it."""
    builtins = {name: allowed.builtin(name) for name in allowed.BUILTINS}
    modules = {name: allowed.MODULES[module] for name, module in names.modules.items()}
    names.values.update(modules, __builtins__=builtins)
    refused = {}
    for name, found in names.definitions.items():
        try:
            names.values[name] = _function(*found[-1], names)
        except NotAllowed as error:
            refused[name] = str(error)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            refused[name] = f"Line {found[-1][0].lineno}: `{name}` cannot be compiled."
    for name, why in refused.items():
        names.values.pop(name, None)
        names.unknown[name] = why


def _import(statement: ast.Import, names: _Names) -> None:
    for one in statement.names:
        first = one.name.split(".")[0]
        if one.asname and one.name in allowed.MODULES:
            names.modules[one.asname] = one.name
        elif not one.asname and first in allowed.MODULES:
            names.modules[first] = first


def _import_from(statement: ast.ImportFrom, names: _Names) -> None:
    module = statement.module or ""
    for one in statement.names:
        name, inner = one.asname or one.name, f"{module}.{one.name}"
        if inner in allowed.MODULES:
            names.modules[name] = inner
        elif one.name in allowed.PLAIN.members.get(module, ()):
            names.values[name] = getattr(allowed.MODULES[module], one.name)
        elif (
            inner not in ("numba.njit", "numba.cuda.jit")
            and module.split(".")[0] not in OF_A_LESSON
        ):
            names.unknown[name] = f"Line {statement.lineno} imports it from `{module}`."


def _assign(statement: ast.Assign | ast.AnnAssign, names: _Names) -> None:
    """Constants: a number, a type, or a tuple of them, under one name or under several."""
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
    """The value of numbers, their sums and products, types, and tuples of these."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | bool):
        return _small(node.value)
    if isinstance(node, ast.Name) and node.id in names.values:
        return names.values[node.id]
    if isinstance(node, ast.Tuple):
        return tuple(_constant(one, names) for one in node.elts)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_constant(node.operand, names)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        left, right = (_number(_constant(one, names)) for one in (node.left, node.right))
        if isinstance(node.op, ast.LShift) and right > 62:
            raise NotAllowed("too far")
        return _small(OPERATORS[type(node.op)](left, right))
    if isinstance(node, ast.Attribute):
        module = allowed.module_of(node.value, names.modules)
        if module and node.attr in allowed.COMPILED.members.get(module, ()):
            return getattr(allowed.MODULES[module], node.attr)
    raise NotAllowed("no constant")


def _number(value: object) -> int | float:
    if not isinstance(value, int | float):
        raise NotAllowed("no number")
    return value


def _small(value: int | float) -> int | float:
    if abs(value) >= allowed.LARGEST:
        raise NotAllowed("too large")
    return value


def _function(definition: ast.FunctionDef, file: str, names: _Names) -> object:
    """The function, with its decorator applied by us. Raises NotAllowed."""
    options, decorator = _decorator(definition)
    bare = _bare(definition)
    try:
        rules = allowed.COMPILED if decorator else allowed.PLAIN
        allowed.hold(bare, rules, names.modules, set(names.values) | set(names.definitions))
    except NotAllowed as error:
        lost = [why for name, why in names.unknown.items() if f"`{name}`" in str(error)]
        raise NotAllowed(f"{error} {lost[0]}" if lost else str(error)) from None
    module = ast.fix_missing_locations(ast.Module([bare], []))
    whole = compile(module, file, "exec", dont_inherit=True)
    code = next(one for one in whole.co_consts if isinstance(one, CodeType))
    function = FunctionType(code, names.values, definition.name)
    if decorator == "cuda.jit":
        return cuda.jit(**options)(function)
    return njit(function) if decorator == "njit" else function


def _decorator(definition: ast.FunctionDef) -> tuple[dict[str, bool], str | None]:
    """Which compiler is asked for, and the options that change what the kernel means."""
    found, options = None, {}
    for one in definition.decorator_list:
        called = one.func if isinstance(one, ast.Call) else one
        text = ast.unparse(called)
        if text not in allowed.DECORATORS:
            raise NotAllowed(f"Line {one.lineno}: the decorator `{text[:60]}` is not allowed.")
        found = allowed.DECORATORS[text]
        for keyword in one.keywords if isinstance(one, ast.Call) else ():
            if keyword.arg in allowed.OPTIONS and isinstance(keyword.value, ast.Constant):
                options[keyword.arg] = bool(keyword.value.value)
    return options, found


def _bare(definition: ast.FunctionDef) -> ast.FunctionDef:
    """The definition without decorators and annotations, which are not to be run."""
    given = definition.args
    if given.defaults or given.kwonlyargs or given.vararg or given.kwarg:
        raise NotAllowed(
            f"Line {definition.lineno}: `{definition.name}` has defaults, `*` or `**`: the task "
            "needs plain parameters."
        )
    names = [ast.arg(one.arg) for one in (*given.posonlyargs, *given.args)]
    bare = ast.FunctionDef(
        name=definition.name,
        args=ast.arguments([], names, None, [], [], None, []),
        body=definition.body,
        decorator_list=[],
    )
    bare.type_params = []
    return ast.copy_location(bare, definition)
