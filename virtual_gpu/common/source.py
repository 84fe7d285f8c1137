"""From a Python function to its syntax tree, its outer names and its source lines."""

from __future__ import annotations

import ast
import copy
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType

from .errors import Site, Unsupported

_HAS_INSTEAD = (
    "It has scalars, and arrays whose size is a constant: cuda.local.array(size, type), one for "
    "each thread, and cuda.shared.array(size, type), one for each block."
)


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
        text = next((text for line, text in self.lines if line == node.lineno), "")
        return Site(self.file, node.lineno, text.strip(), node.col_offset)

    def refuse(self, node: ast.AST, what: str) -> Unsupported:
        """The error for a construct that the virtual GPU does not know."""
        return Unsupported(
            f"{self.name}, {self.site(node)}: {what} is not known to the virtual GPU."
        )

    def undefined(self, node: ast.Name) -> Unsupported:
        """The error for a name that nobody has defined."""
        return Unsupported(f"{self.name}, {self.site(node)}: the name {node.id} is not defined.")

    def refuse_array(self, node: ast.AST) -> Unsupported:
        """The error for a list or a NumPy array that a kernel wants to make."""
        return Unsupported(
            f"{self.name}, {self.site(node)}: a kernel can make no lists and no NumPy arrays. "
            f"{_HAS_INSTEAD}"
        )

    def refuse_change(self, node: ast.AST) -> Unsupported:
        """The error for a store to an item of a tuple."""
        return Unsupported(
            f"{self.name}, {self.site(node)}: a tuple cannot be changed (Numba refuses it, too). "
            f"A kernel {_HAS_INSTEAD.removeprefix('It ')}"
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
    text, first, file = _text(function)
    tree = _definition(function, text)
    ast.increment_lineno(tree, first - 1)
    numbered = tuple(enumerate(text.rstrip().splitlines(), start=first))
    names = _outer_names(function)
    defaults = function.__defaults__ or ()
    source = Source(
        function, function.__name__, file, tree, names, numbered, defaults,
        later_tests(tree),
    )  # fmt: skip
    arguments = tree.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
        raise source.refuse(tree, "a signature with *args, **kwargs or keyword-only arguments")
    return source


def _text(function: Callable) -> tuple[str, int, str]:
    """The function's text, not indented, the number of its first line, and its file."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        found = _text_on_command_line(function)
        if found is None:
            raise Unsupported(
                f"The source of {function.__name__} cannot be read; define it in a file or a "
                "notebook cell, not in exec() or at a plain prompt."
            ) from None
        return (*found, "<command line>")
    return textwrap.dedent("".join(lines)), first, inspect.getfile(function)


def _text_on_command_line(function: Callable) -> tuple[str, int] | None:
    """The function's text in ``python -c TEXT`` and the number of its first line."""
    code, words = function.__code__, sys.orig_argv
    if (function.__module__, code.co_filename) != ("__main__", "<string>") or "-c" not in words:
        return None
    lines = words[words.index("-c") + 1].splitlines(keepends=True)
    first = code.co_firstlineno
    block = inspect.getblock(lines[first - 1 :])
    named = any(f"def {code.co_name}(" in line for line in block)
    return (textwrap.dedent("".join(block)), first) if named else None


def _definition(function: Callable, text: str) -> ast.FunctionDef:
    """The def statement in this text; a lambda as the function that it stands for."""
    try:
        statements = ast.parse(text).body
    except SyntaxError:  # a lambda within a longer expression
        statements = []
    if statements and isinstance(statements[0], ast.FunctionDef):
        return statements[0]
    found = _lambda(function.__code__, [n for s in statements for n in ast.walk(s)])
    if found is None:
        raise Unsupported(f"{function.__name__} is not a def statement; write it as one.")
    body = [ast.copy_location(ast.Return(found.body), found)]
    definition = ast.FunctionDef("function", found.args, body, [])
    return ast.fix_missing_locations(ast.copy_location(definition, found))


def _lambda(code: CodeType, nodes: list[ast.AST]) -> ast.Lambda | None:
    """The lambda of these lines that this code was made of; None if it cannot be told."""
    names = code.co_varnames[: code.co_argcount]
    lambdas = [
        node
        for node in nodes
        if isinstance(node, ast.Lambda) and tuple(a.arg for a in node.args.args) == names
    ]
    if len(lambdas) > 1:
        lambdas = [node for node in lambdas if _does(code) == _does(_code_of(node))]
    return lambdas[0] if len({ast.dump(node) for node in lambdas}) == 1 else None


def _code_of(node: ast.Lambda) -> CodeType:
    (code,) = (
        constant
        for constant in compile(ast.Expression(node), "", "eval").co_consts
        if isinstance(constant, CodeType)
    )
    return code


def _does(code: CodeType) -> tuple:
    return code.co_code, code.co_consts, code.co_names


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
    stored = {n.id for n in own_nodes(tree) if isinstance(n, ast.Name) and not _loads(n)}
    return stored | {a.arg for a in tree.args.args}


def own_nodes(tree: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function without those of the functions within it."""
    waiting = list(tree.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def later_tests(tree: ast.FunctionDef) -> dict[ast.While, ast.expr]:
    """A second copy of the condition of each ``while`` loop."""
    return {n: copy.deepcopy(n.test) for n in ast.walk(tree) if isinstance(n, ast.While)}


def _loads(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


@dataclass(frozen=True)
class ParameterUse:
    """How a kernel uses one array parameter, as far as the text tells."""

    may_write: bool  # stored to, or handed on to where it might be
    fewest_indices: int  # a read with fewer indices than dimensions makes a view


def parameter_uses(tree: ast.FunctionDef, handed_on: Callable) -> dict[str, ParameterUse]:
    """For each parameter, whether the kernel might write through it.

    ``handed_on(call, position)`` is how the function that is called uses the argument at this
    position; None where that is not known.
    """
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    names = [node for node in parents if isinstance(node, ast.Name)]
    uses = {}
    for parameter in (a.arg for a in tree.args.args):
        found = [_use_of(n, parents[n], handed_on) for n in names if n.id == parameter]
        uses[parameter] = ParameterUse(
            may_write=any(use.may_write for use in found),
            fewest_indices=min((use.fewest_indices for use in found), default=ANY_RANK),
        )
    return uses


ANY_RANK = 99


def _use_of(name: ast.Name, parent: ast.AST, handed_on: Callable) -> ParameterUse:
    if _is_read(name, parent):
        return ParameterUse(False, _index_count(parent))
    if _is_query(parent):
        return ParameterUse(False, ANY_RANK)
    if isinstance(parent, ast.Call) and name in parent.args:
        known = handed_on(parent, parent.args.index(name))
        if known is not None:
            return known
    return ParameterUse(True, ANY_RANK)


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
