"""From a Python function to its syntax tree, its outer names and its source lines."""

from __future__ import annotations

import ast
import copy
import inspect
import linecache
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

from .errors import Site, Unsupported


@dataclass(frozen=True)
class Source:
    """A function's tree (line numbers as in its file) and every outer name it can see.

    later_tests: for each ``while`` loop a second copy of its condition, which decides about all
    rounds but the first. Python makes two, and Numba may give them different types.
    """

    function: Callable
    name: str
    file: str
    tree: ast.FunctionDef
    names: dict[str, object]
    lines: tuple[tuple[int, str], ...]  # (number in the file, text), indentation of the def removed
    defaults: tuple  # of the last parameters
    later_tests: dict[ast.While, ast.expr]

    def site(self, node: ast.AST) -> Site:
        """Where a node stands."""
        text = linecache.getline(self.file, node.lineno).strip()
        return Site(self.file, node.lineno, text)

    def refuse(self, node: ast.AST, what: str) -> Unsupported:
        """The error for a construct that the virtual GPU does not know."""
        return Unsupported(
            f"{self.name}, {self.site(node)}: {what} is not known to the virtual GPU."
        )

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(a.arg for a in self.tree.args.args)

    def filled(self, given: tuple) -> tuple | None:
        """``given`` arguments with defaults for the rest; None where their number is wrong."""
        missing = len(self.parameters) - len(given)
        if not 0 <= missing <= len(self.defaults):
            return None
        return given + self.defaults[len(self.defaults) - missing :]


def read_source(function: Callable) -> Source:
    """The Source of a plain Python function; Unsupported when its text cannot be found."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise Unsupported(
            f"The source of {function.__name__} cannot be read; define the kernel in a file or "
            "a notebook cell, not in exec() or at a plain prompt."
        ) from None
    text = textwrap.dedent("".join(lines))
    tree = _definition(function, text)
    ast.increment_lineno(tree, first - 1)
    numbered = tuple(enumerate(text.rstrip().splitlines(), start=first))
    names = _outer_names(function)
    defaults = function.__defaults__ or ()
    source = Source(
        function, function.__name__, inspect.getfile(function), tree, names, numbered, defaults,
        {n: copy.deepcopy(n.test) for n in ast.walk(tree) if isinstance(n, ast.While)},
    )  # fmt: skip
    arguments = tree.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
        raise source.refuse(tree, "a signature with *args, **kwargs or keyword-only arguments")
    return source


def _definition(function: Callable, text: str) -> ast.FunctionDef:
    """The def statement in this text; a lambda as the function that it stands for."""
    try:
        statement = ast.parse(text).body[0]
    except SyntaxError:  # a lambda within a longer expression
        statement = None
    if isinstance(statement, ast.FunctionDef):
        return statement
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    lambdas = [
        node
        for node in (ast.walk(statement) if statement else ())
        if isinstance(node, ast.Lambda) and tuple(a.arg for a in node.args.args) == names
    ]
    if len(lambdas) != 1:
        raise Unsupported(f"{function.__name__} is not a def statement; write it as one.")
    found = lambdas[0]
    body = [ast.copy_location(ast.Return(found.body), found)]
    definition = ast.FunctionDef("function", found.args, body, [])
    return ast.fix_missing_locations(ast.copy_location(definition, found))


def _outer_names(function: Callable) -> dict[str, object]:
    names = dict(vars(__import__("builtins")))
    names.update(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # a name of the factory that is not bound yet
            names.pop(name, None)
    return names


def assigned_names(tree: ast.FunctionDef) -> set[str]:
    """Names that the function binds itself: its parameters and everything it assigns."""
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not _loads(n)}
    return stored | {a.arg for a in tree.args.args}


def _loads(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


@dataclass(frozen=True)
class ParameterUse:
    """How a kernel uses one array parameter, as far as the text tells."""

    may_write: bool  # stored to, or handed on to where it might be
    fewest_indices: int  # a read with fewer indices than dimensions makes a view


def parameter_uses(tree: ast.FunctionDef) -> dict[str, ParameterUse]:
    """For each parameter, whether the kernel might write through it."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    uses = {}
    for parameter in (a.arg for a in tree.args.args):
        nodes = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == parameter]
        reads = [parents[n] for n in nodes if _is_read(n, parents[n])]
        plain = [n for n in nodes if not _is_read(n, parents[n]) and not _is_query(parents[n])]
        uses[parameter] = ParameterUse(
            may_write=bool(plain),
            fewest_indices=min((_index_count(r) for r in reads), default=99),
        )
    return uses


def _is_read(name: ast.Name, parent: ast.AST) -> bool:
    """Whether an element of the array is read, or a part of it."""
    return (
        isinstance(parent, ast.Subscript)
        and parent.value is name
        and isinstance(parent.ctx, ast.Load)
    )


def _is_query(parent: ast.AST) -> bool:
    """Whether only the array's properties are asked for, as in ``x.shape`` and ``len(x)``."""
    return isinstance(parent, ast.Attribute) or (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Name)
        and parent.func.id == "len"
    )


def _index_count(subscript: ast.Subscript) -> int:
    """How many dimensions a subscript surely fixes: a slice, or a name that may hold a tuple,
    counts as none or one."""
    index = subscript.slice
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return 0 if any(isinstance(p, ast.Slice) for p in parts) else len(parts)
