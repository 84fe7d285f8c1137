"""Turn the text of a submission into functions without running any of it.

A function definition is compiled and its code object is taken out. The only names that the function
can reach are those of `allow_list` and the submission's own constants and functions. Numba types
byte code without calling it, and the virtual GPU interprets the syntax tree. Decorators are
interpreted here, annotations are dropped, and default values are refused.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType

from numba import cuda, njit

from labs.grading import allow_list
from labs.grading.allow_list import NotAllowed
from labs.grading.constants import Module, Unknown
from labs.grading.lines import register
from labs.grading.names import Compiler, Definition, Names, read
from virtual_gpu import Unsupported
from virtual_gpu.common.source import read_source


@dataclass(frozen=True)
class _Broken:
    """A piece of a submission that Python cannot parse.

    piece: its text. file: the number of its file. error: the error that parsing raised.
    """

    piece: str
    file: int
    error: Exception


class Missing(NotAllowed):
    """A submission has no function of the name that a task asks for."""


def functions_of(
    pieces: tuple[str, ...],
    wanted: tuple[str, ...],
    files: tuple[int, ...] = (),
    orders: frozenset[str] = frozenset(),
) -> Mapping[str, object]:
    """Return a dict from each wanted name to its function, or to a NotAllowed that says why not.

    A kernel is ready to launch, and a plain function ready to call. pieces: Python source texts in
    order, each with its own line numbers, such as a notebook's cells. Statements that define
    nothing are ignored. A piece that Python cannot parse affects only functions of its own file.
    wanted: the names. files: the number of the file of each piece; () if all are of one file.
    orders: the wanted names for which a list of whole numbers is accepted too; the value is then a
    tuple.

    The pieces are also registered in `linecache`, so that messages can quote their lines.
    """
    files = files or (0,) * len(pieces)
    names, broken = Names(), []
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
            read(statement, names, file)
    functions = _defined(names)
    return {
        name: _order(name, names, broken)
        if name in orders and name not in names.definitions
        else _wanted(name, names, functions, broken)
        for name in wanted
    }


def _order(name: str, names: Names, broken: list[_Broken]) -> object:
    """Return the list of whole numbers of this name as a tuple, or a NotAllowed that says why not.

    It is a Missing if no list has this name. broken: the pieces that cannot be parsed.
    """
    found = names.orders.get(name, ())
    lines = ", ".join(str(line) for line, _ in found)
    if len({numbers for _, numbers in found}) > 1:
        return NotAllowed(f"`{name}` is set {len(found)} times, in lines {lines}: leave one list.")
    if found and found[0][1] is None:
        return NotAllowed(f"Line {lines}: `{name}` must be a list of whole numbers.")
    if found:
        return found[0][1]
    for one in broken:
        if re.search(rf"^{name}\b", one.piece, re.MULTILINE):
            line = getattr(one.error, "lineno", None)
            return NotAllowed(f"{f'Line {line}: ' if line else ''}{_parse_problem(one.error)}.")
    return Missing(
        f"There is no list `{name}`: the task asks for `{name} = [...]`, with the numbers of the "
        "lines."
    )


def _wanted(
    name: str, names: Names, functions: Mapping[str, object], broken: list[_Broken]
) -> object:
    """Return the function of a name, or a NotAllowed that says why there is none.

    The reason is that the name has several different definitions, that a piece that may define it
    cannot be parsed, that there is no definition, or that its function was refused. It is a Missing
    only if there is no definition. functions: maps each defined name to its function, or to the
    NotAllowed that refuses it. broken: the pieces that cannot be parsed.
    """
    found = names.definitions.get(name, ())
    lines, own_files = [one.tree.lineno for one in found], {names.files[one.file] for one in found}
    if len({(ast.dump(one.tree), one.compiler) for one in found}) > 1:
        listed = ", ".join(map(str, lines))
        return NotAllowed(f"`{name}` is defined {len(lines)} times, in lines {listed}: leave one.")
    for one in broken:
        if _may_define(name, one.piece, found) and (not own_files or one.file in own_files):
            line = getattr(one.error, "lineno", None)
            return NotAllowed(f"{f'Line {line}: ' if line else ''}{_parse_problem(one.error)}.")
    if not found:
        missing = f"There is no function `{name}`: the task asks for one of this name."
        return Missing(names.elsewhere.get(name, missing))
    return functions[name]


def _may_define(name: str, piece: str, found: Sequence[Definition]) -> bool:
    """Return True if a piece that cannot be parsed may define the function of a name.

    If there is no other definition, `def`, the name and a bracket anywhere in the piece suffice.
    Otherwise the piece must have a line that begins as a definition does, because a comment or a
    note may mention the function. found: the definitions in other pieces.
    """
    if not found:
        return f"def {name}(" in piece
    return bool(re.search(rf"^\s*def\s+{name}\s*\(", piece, re.MULTILINE))


def _parse_problem(error: Exception) -> str:
    """Return a clause on why Python could not parse a text.

    The clause is such as "Python cannot read this (invalid syntax)".
    """
    if isinstance(error, SyntaxError):
        return f"Python cannot read this ({error.msg})"
    return "The text is nested too deeply, or contains bytes that are no text"


def _defined(names: Names) -> dict[str, object]:
    """Return a dict from each defined name to its function, or to the NotAllowed that refuses it.

    If a name is defined several times, the last definition counts. A function may call one that is
    defined after it.
    """
    functions: dict[str, object] = {}
    for name, definitions in names.definitions.items():
        try:
            functions[name] = _function(definitions[-1], names)
        except NotAllowed as error:
            functions[name] = error
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            line = definitions[-1].tree.lineno
            functions[name] = NotAllowed(f"Line {line}: `{name}` cannot be compiled.")
    _refuse_callers(functions, names)
    built = {name: one for name, one in functions.items() if not isinstance(one, NotAllowed)}
    for function in built.values():
        values = _plain(function).__globals__
        for name in [one for one in values if one in names.definitions]:
            values.pop(name)
            if name in built:
                values[name] = built[name]
    return functions


def _plain(function: object) -> FunctionType:
    """Return the Python function of a compiled function, or a plain function unchanged."""
    return getattr(function, "py_func", function)


def _refuse_callers(functions: dict[str, object], names: Names) -> None:
    """Replace in `functions` every caller of a refused function by a NotAllowed with the reason.

    Functions that call a refused one through others are replaced, too. functions: a dict from each
    defined name to its function, or to the NotAllowed that refuses it.
    """
    callers, why = defaultdict(list), {}
    for name, function in functions.items():
        if isinstance(function, NotAllowed):
            why[name] = function
            continue
        own = allow_list.bound_names(names.definitions[name][-1].tree)
        for callee in _plain(function).__globals__:
            if callee in functions and callee not in own:
                callers[callee].append(name)
    pending = list(why)
    while pending:
        callee = pending.pop()
        for caller in [one for one in callers[callee] if one not in why]:
            why[caller] = why[callee]
            refused = f"`{caller}` calls `{callee}`, which cannot be graded. {why[callee]}"
            functions[caller] = NotAllowed(refused)
            pending.append(caller)


def _function(definition: Definition, names: Names) -> object:
    """Return the function of a definition, compiled if it has a decorator such as `cuda.jit`.

    Raises NotAllowed if the definition is refused, or uses anything outside the allow-list, and
    Python's own error, such as SyntaxError, if it cannot be compiled.
    """
    if definition.refused:
        raise NotAllowed(definition.refused)
    bare = _bare(definition.tree)
    used = {node.id for node in ast.walk(bare) if isinstance(node, ast.Name)}
    seen = {name: names.at(name, definition.order) for name in used}
    compiler = definition.compiler
    _require_allowed(bare, allow_list.COMPILED if compiler else allow_list.PLAIN, seen, names)
    module = ast.fix_missing_locations(ast.Module([bare], []))
    whole = compile(module, definition.file, "exec", dont_inherit=True)
    code = next(one for one in whole.co_consts if isinstance(one, CodeType))
    function = FunctionType(code, _globals(seen, names), definition.tree.name)
    _require_same_text(function, bare)
    if compiler is None:
        return function
    return (
        cuda.jit(**dict(compiler.options))(function)
        if compiler.name == "cuda.jit"
        else njit(function)
    )


def _require_allowed(
    bare: ast.FunctionDef, rules: allow_list.Rules, seen: Mapping[str, object], names: Names
) -> None:
    """Raise NotAllowed, with the reason, if a function uses anything outside the allow-list.

    bare: its syntax tree without decorators. rules: those for this kind of function. seen: maps
    each name that the function uses to its value at the function's definition, or to None.
    """
    modules = {name: value.name for name, value in seen.items() if isinstance(value, Module)}
    known = {name for name, value in seen.items() if _is_value(value)} | set(names.definitions)
    try:
        allow_list.require_allowed(bare, rules, modules, known)
    except NotAllowed as error:
        unknown = {name: one.why for name, one in seen.items() if isinstance(one, Unknown)}
        reasons = [why for name, why in unknown.items() if f"`{name}`" in str(error)]
        raise NotAllowed(f"{error} {reasons[0]}" if reasons else str(error)) from None


def _is_value(value: object) -> bool:
    """Return True if a name with this value may be used as a variable in a function.

    Return False for None, a module, an unknown value and a compiler.
    """
    return value is not None and not isinstance(value, Module | Unknown | Compiler)


def _globals(seen: Mapping[str, object], names: Names) -> dict[str, object]:
    """Return the globals of a function: the names that it uses with their values, and builtins.

    The names of the submission's own functions have the value None, which the caller replaces.
    seen: maps each name that the function uses to its value at the function's definition, or to
    None.
    """
    modules = {
        name: allow_list.MODULES[value.name]
        for name, value in seen.items()
        if isinstance(value, Module)
    }
    values = {name: value for name, value in seen.items() if _is_value(value)}
    functions = {name: None for name in seen if name in names.definitions}  # filled in later
    return {**modules, **values, **functions, "__builtins__": allow_list.builtins_of_all()}


def _require_same_text(function: FunctionType, checked: ast.FunctionDef) -> None:
    """Raise NotAllowed if the virtual GPU would read another text than the one that was checked.

    function: the virtual GPU reads its source. checked: the syntax tree that was checked.
    """
    try:
        read = ast.dump(_bare(read_source(function).tree))
    except (Unsupported, SyntaxError, IndexError):
        read = ""
    if read != ast.dump(checked):
        raise NotAllowed(
            f"Line {checked.lineno}: the lines of `{checked.name}` cannot be told apart: remove "
            "form feeds and other control characters, and write the function alone on its lines."
        )


def _bare(definition: ast.FunctionDef) -> ast.FunctionDef:
    """Return a copy of a definition without decorators and annotations, which must not run.

    Raises NotAllowed if the parameters have default values, `*`, `**` or `/`.
    """
    arguments = definition.args
    stars = arguments.vararg or arguments.kwarg or arguments.kwonlyargs
    if arguments.defaults or arguments.posonlyargs or stars:
        raise NotAllowed(
            f"Line {definition.lineno}: `{definition.name}` has defaults, `*`, `**` or `/`: the "
            "task needs plain parameters."
        )
    names = [ast.arg(one.arg) for one in arguments.args]
    bare = ast.FunctionDef(
        name=definition.name,
        args=ast.arguments([], names, None, [], [], None, []),
        body=definition.body,
        decorator_list=[],
    )
    bare.type_params = []
    return ast.copy_location(bare, definition)
