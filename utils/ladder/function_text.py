"""The text of a function together with all that it uses, as a module of its own."""

from __future__ import annotations

import ast
import hashlib
import inspect
import linecache
import symtable
import sys
import textwrap
from collections.abc import Iterable, Iterator
from types import FunctionType, ModuleType

import numba
import numpy as np

from utils.errors import CourseError

PLAIN = (bool, int, float, str, type(None))
# Functions of these packages are imported. The text of any other function is kept.
INSTALLED = ("numba", "numpy", "utils")


def text_of(function) -> str:
    """Return the text of a module that defines a function, such as a kernel of a notebook.

    The module has the imports, constants and device functions that the function uses, and then the
    function with its decorators. Raises CourseError if the function uses something that a text
    cannot hold, such as an array of the notebook.
    """
    imports: dict[str, None] = {}
    constants: dict[str, None] = {}
    functions: dict[object, str] = {}
    _collect(function, imports, constants, functions)
    head = "\n\n".join("\n".join(lines) for lines in (_merged(imports), constants) if lines)
    return "\n\n\n".join([head, *functions.values()]) + "\n"


def module_of(name: str, text: str) -> ModuleType:
    """Return a new module made of a text; tracebacks and the virtual GPU can read its source lines.

    name: the dotted name of the module. A digest of the text is added to it, and `sys.modules`
    finds the module by the result.
    """
    name = f"{name}_{hashlib.sha1(text.encode()).hexdigest()[:8]}"
    module = ModuleType(name)
    module.__file__ = f"<{name}>"
    linecache.cache[module.__file__] = (len(text), None, text.splitlines(True), module.__file__)
    sys.modules[name] = module
    exec(compile(text, module.__file__, "exec"), module.__dict__)
    return module


def _merged(imports: Iterable[str]) -> list[str]:
    """Return sorted import statements, with one statement for all names of a module.

    imports: statements with one name each.
    """
    names: dict[str, list[str]] = {}
    for line in sorted(imports):
        start, _, name = line.rpartition("import ")
        names.setdefault(f"{start}import " if start else line, []).append(name if start else "")
    return [f"{start}{', '.join(filter(None, ones))}" for start, ones in names.items()]


def _collect(
    function, imports: dict[str, None], constants: dict[str, None], functions: dict[object, str]
) -> None:
    """Add the text of a function and of all that it uses to three dicts, in place, callees first.

    The keys of `imports` and `constants` are statements. `functions` has the text of each Python
    function, and a statement for each further name of one. Raises CourseError for a value that a
    text cannot hold.
    """
    plain = plain_function(function)
    source, tree = _source(plain)
    functions[plain] = ""  # so that a function that calls itself is met once
    for name, value in _used(plain, tree):
        if isinstance(value, PLAIN) or _is_tuple_of_numbers(value):
            constants[f"{name} = {value!r}"] = None
        elif isinstance(value, np.generic):
            imports["import numpy as np"] = None
            constants[f"{name} = np.{value.dtype.name}({value.item()!r})"] = None
        elif _is_written_here(value):
            if plain_function(value) not in functions:
                _collect(value, imports, constants, functions)
            if name != (defined := name_of(value)):
                functions[name] = f"{name} = {defined}"
        elif line := _import_of(name, value):
            imports[line] = None
        else:
            raise CourseError(
                f"`{plain.__name__}` uses `{name}`, a {type(value).__name__}, and only numbers, "
                "modules and functions can be kept: pass it as an argument."
            )
    if function is not plain and isinstance(tree, ast.FunctionDef) and not tree.decorator_list:
        imports["from numba import cuda"] = None
        source = f"{source}\n\n\n{plain.__name__} = cuda.jit({plain.__name__})"
    del functions[plain]
    functions[plain] = source


def name_of(function) -> str:
    """Return the name that the text of a function defines: that of its `def`, or of its lambda.

    Raises CourseError for a lambda that is not the value of one name.
    """
    plain = plain_function(function)
    _, tree = _source(plain)
    if isinstance(tree, ast.FunctionDef):
        return tree.name
    if isinstance(tree, ast.Assign) and isinstance(tree.value, ast.Lambda | ast.Call):
        return ast.unparse(tree.targets[0])
    raise CourseError(
        f"A lambda without a name cannot be kept: write line {plain.__code__.co_firstlineno} as a "
        "function with `def`."
    )


def _source(plain: FunctionType) -> tuple[str, ast.stmt]:
    """Return the statement that defines a Python function: (text without indent, syntax tree)."""
    source = textwrap.dedent(inspect.getsource(plain)).rstrip()
    return source, ast.parse(source).body[0]


def plain_function(function):
    """Return the Python function that a Numba dispatcher compiles; another object unchanged."""
    return getattr(function, "py_func", function)


def _used(function: FunctionType, tree: ast.stmt) -> Iterator[tuple[str, object]]:
    """Yield (name, value) of each global or free variable in a function's tree, each once.

    The function's own name and names without a value are left out.
    """
    known = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    own = name_of(function)
    read = _read_from_outside(symtable.symtable(ast.unparse(tree), own, "exec"))
    names = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    for name in dict.fromkeys(names):
        if name in known and name in read and name != own:
            yield name, known[name]


def _read_from_outside(table: symtable.SymbolTable) -> set[str]:
    """Return the names that a scope and those in it read, and that none of them defines.

    The own variable of a comprehension or of a nested function is not in it.
    """
    top = table.get_type() == "module"
    names = {
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_referenced() and (top or symbol.is_global())
    }
    return names.union(*map(_read_from_outside, table.get_children()))


def _is_written_here(value: object) -> bool:
    """Return True for a function outside of the packages numba, numpy and utils.

    It may be a Numba dispatcher.
    """
    plain = plain_function(value)
    return isinstance(plain, FunctionType) and plain.__module__.partition(".")[0] not in INSTALLED


def _is_tuple_of_numbers(value: object) -> bool:
    """Return True for a tuple of numbers, texts or None."""
    return isinstance(value, tuple) and all(isinstance(one, PLAIN) for one in value)


def _import_of(name: str, value: object) -> str:
    """Return the statement that imports a value by this name, or "" if no module offers it."""
    if isinstance(value, ModuleType):
        parent, _, leaf = value.__name__.rpartition(".")
        line = f"from {parent} import {leaf}" if parent else f"import {leaf}"
        return line if leaf == name else f"{line} as {name}"
    own = value if isinstance(value, type) else plain_function(value)
    for module in (sys.modules.get(getattr(own, "__module__", "")), numba, numba.types):
        for found in dict.fromkeys((getattr(own, "__name__", name), name)):
            if module and module.__name__ != "__main__" and getattr(module, found, None) is value:
                line = f"from {module.__name__} import {found}"
                return line if found == name else f"{line} as {name}"
    return ""
