"""A Python function's syntax tree, its outer names and its source lines."""

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
    """A function's syntax tree, with line numbers as in its file, and every outer name it can see.

    ``function`` is the Python function, ``name`` its name and ``file`` the path of its file.
    ``names`` maps each global and closure variable that it can see to its value. ``lines`` holds
    (line number in the file, dedented text) of the function's lines. ``defaults`` are those of the
    last parameters. ``later_tests`` holds a second copy of the condition of each ``while`` loop,
    which is evaluated in all iterations but the first. Python compiles two copies, and Numba may
    give them different types.
    """

    function: Callable
    name: str
    file: str
    tree: ast.FunctionDef
    names: dict[str, object]
    lines: tuple[tuple[int, str], ...]  # (line number in the file, dedented text)
    defaults: tuple  # of the last parameters, as in Python
    later_tests: dict[ast.While, ast.expr]

    def site(self, node: ast.AST) -> Site:
        """Return the Site of a syntax node, with its file, line number, line text and column.

        The text is without indentation, and "" if the line is none of the function's.
        """
        text = next((text for line, text in self.lines if line == node.lineno), "")
        return Site(self.file, node.lineno, text.strip(), node.col_offset)

    def refuse(self, node: ast.AST, construct: str) -> Unsupported:
        """Return, without raising it, an Unsupported error for a construct in a kernel.

        ``construct`` is a noun phrase, such as ``a lambda``; the message continues with "is not
        known to the virtual GPU".
        """
        return Unsupported(
            f"{self.name}, {self.site(node)}: {construct} is not known to the virtual GPU."
        )

    def undefined(self, node: ast.Name, cure: str = "") -> Unsupported:
        """Return, without raising it, an Unsupported error for a name that is not defined.

        ``cure`` is the end of its sentence, such as ``; write cuda.threadIdx``.
        """
        where = f"{self.name}, {self.site(node)}"
        return Unsupported(f"{where}: the name {node.id} is not defined{cure}.")

    def refuse_array(self, node: ast.AST) -> Unsupported:
        """Return an Unsupported error for a list or NumPy array that a kernel tries to create.

        The caller raises it. The message says which arrays a kernel can have.
        """
        return Unsupported(
            f"{self.name}, {self.site(node)}: a kernel can make no lists and no NumPy arrays. "
            f"{_HAS_INSTEAD}"
        )

    def refuse_try(self, node: ast.AST) -> Unsupported:
        """Return an Unsupported error for a `try`, which a kernel cannot have.

        The caller raises it.
        """
        return Unsupported(
            f"{self.name}, {self.site(node)}: a kernel has no `try`, because nothing catches an "
            "error on a GPU. Test with `if` before the line that may go wrong."
        )

    def refuse_change(self, node: ast.AST) -> Unsupported:
        """Return an Unsupported error for an assignment to an item of a tuple.

        The caller raises it.
        """
        return Unsupported(
            f"{self.name}, {self.site(node)}: a tuple cannot be changed (Numba refuses it, too). "
            f"A kernel {_HAS_INSTEAD.removeprefix('It ')}"
        )

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the function's parameters, in order."""
        return tuple(a.arg for a in self.tree.args.args)

    def filled(self, arguments: tuple) -> tuple | None:
        """Return the arguments of a call, completed by the parameters' defaults.

        Returns None if there are too few or too many arguments.
        """
        missing = len(self.parameters) - len(arguments)
        if not 0 <= missing <= len(self.defaults):
            return None
        return arguments + self.defaults[len(self.defaults) - missing :]


def read_source(function: Callable) -> Source:
    """Return the Source of a plain Python function.

    Raises Unsupported if its text cannot be found, if the text is neither a ``def`` statement nor
    an unambiguous lambda, or if it has ``*args``, ``**kwargs`` or keyword-only arguments.
    """
    text, first, file = _text(function)
    tree = _definition(function, text)
    ast.increment_lineno(tree, first - 1)
    # At newlines alone, as Python's parser counts: `splitlines` also breaks at form feeds.
    numbered = tuple(enumerate(text.rstrip().split("\n"), start=first))
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
    """Return the function's text without indentation, its first line number, and its file.

    The file is "<command line>" for ``python -c``. Raises Unsupported if the text cannot be read.
    """
    try:
        # From Python 3.13 on, inspect takes the text of `python -c` for that of any "<string>".
        if function.__code__.co_filename == "<string>":
            raise OSError
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        text_and_line = _text_on_command_line(function)
        if text_and_line is None:
            raise Unsupported(
                f"The source of {function.__name__} cannot be read; define it in a file or a "
                "notebook cell, not in exec() or at a plain prompt."
            ) from None
        return (*text_and_line, "<command line>")
    return textwrap.dedent("".join(lines)), first, inspect.getfile(function)


def _text_on_command_line(function: Callable) -> tuple[str, int] | None:
    """Return the function's text in ``python -c TEXT`` and its first line number.

    Returns None if the function is not defined there.
    """
    code, arguments = function.__code__, sys.orig_argv
    if (function.__module__, code.co_filename) != ("__main__", "<string>") or "-c" not in arguments:
        return None
    lines = arguments[arguments.index("-c") + 1].splitlines(keepends=True)
    first = code.co_firstlineno
    block = inspect.getblock(lines[first - 1 :])
    has_definition = any(f"def {code.co_name}(" in line for line in block)
    return (textwrap.dedent("".join(block)), first) if has_definition else None


def _definition(function: Callable, text: str) -> ast.FunctionDef:
    """Return the def statement with which this text begins.

    A lambda becomes an equivalent def statement with the name "function". Raises Unsupported if the
    text has neither, if it is unclear which lambda is meant, or if the text does not parse.
    """
    try:
        statements = ast.parse(text).body
    except SyntaxError:  # a lambda within a longer expression
        statements = []
    if statements and isinstance(statements[0], ast.FunctionDef):
        return statements[0]
    node = _lambda(function.__code__, [n for s in statements for n in ast.walk(s)])
    if node is None:
        raise Unsupported(f"{function.__name__} is not a def statement; write it as one.")
    body = [ast.copy_location(ast.Return(node.body), node)]
    definition = ast.FunctionDef("function", node.args, body, [])
    return ast.fix_missing_locations(ast.copy_location(definition, node))


def _lambda(code: CodeType, nodes: list[ast.AST]) -> ast.Lambda | None:
    """Return the lambda among ``nodes`` that this code was compiled from.

    Returns None if there is none, or if it is ambiguous.
    """
    names = code.co_varnames[: code.co_argcount]
    lambdas = [
        node
        for node in nodes
        if isinstance(node, ast.Lambda) and tuple(a.arg for a in node.args.args) == names
    ]
    if len(lambdas) > 1:
        lambdas = [node for node in lambdas if _bytecode(code) == _bytecode(_code_of(node))]
    return lambdas[0] if len({ast.dump(node) for node in lambdas}) == 1 else None


def _code_of(node: ast.Lambda) -> CodeType:
    """Return the code object that Python compiles a lambda to."""
    (code,) = (
        constant
        for constant in compile(ast.Expression(node), "", "eval").co_consts
        if isinstance(constant, CodeType)
    )
    return code


def _bytecode(code: CodeType) -> tuple:
    """Return the bytecode, the constants and the names of a code object, for comparison."""
    return code.co_code, code.co_consts, code.co_names


def _outer_names(function: Callable) -> dict[str, object]:
    """Return a dict from name to value of all outer names that a function can see.

    They are the builtins, the globals and the closure variables that are bound. A closure variable
    that is not bound yet has no entry.
    """
    names = dict(vars(__import__("builtins")))
    names.update(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # the enclosing function has not bound it yet
            names.pop(name, None)
    return names


def assigned_names(tree: ast.FunctionDef) -> set[str]:
    """Return the set of names of the function's parameters and of the variables that it assigns.

    Names within inner functions, and those of inner functions made by ``def``, are not included.
    """
    return stored_variables(tree) | {a.arg for a in tree.args.args}


def stored_variables(tree: ast.FunctionDef) -> set[str]:
    """Return the set of names of the variables that the function itself assigns."""
    return {n.id for n in own_nodes(tree) if isinstance(n, ast.Name) and not _loads(n)}


def own_nodes(tree: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the syntax nodes of a function's body, in no particular order.

    A nested function or lambda is yielded, but not the nodes inside it.
    """
    pending = list(tree.body)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            pending += ast.iter_child_nodes(node)


def later_tests(tree: ast.FunctionDef) -> dict[ast.While, ast.expr]:
    """Return a dict from each ``while`` loop to a second copy of its condition."""
    return {n: copy.deepcopy(n.test) for n in ast.walk(tree) if isinstance(n, ast.While)}


def _loads(node: ast.Name) -> bool:
    """Return True if the name is read here, not assigned or deleted."""
    return isinstance(node.ctx, ast.Load)


@dataclass(frozen=True)
class ParameterUse:
    """The use of one array parameter by a kernel, as far as the kernel's text shows it.

    ``may_write`` is True if the kernel stores to the array, or passes it to a function that may do
    so. ``fewest_indices`` is the smallest number of indices of a read, and ANY_RANK without a read.
    """

    may_write: bool  # it is stored to, or passed to a function that may store to it
    fewest_indices: int  # of a read; fewer than its dimensions make a view


def parameter_uses(tree: ast.FunctionDef, use_by_callee: Callable) -> dict[str, ParameterUse]:
    """Return a dict from each parameter's name to its ParameterUse.

    ``fewest_indices`` is ANY_RANK if no subscript reads from the parameter, here or in a callee.
    ``may_write`` is True for each use that is no read of an element, attribute or length, and no
    argument of a known function: an assignment ``x = a`` counts as a write to ``a``.
    ``use_by_callee(call, position)`` takes an ``ast.Call`` and the position of an argument, from 0.
    It returns the called function's ParameterUse of this argument, or None if that is unknown.
    """
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    names = [node for node in parents if isinstance(node, ast.Name)]
    find, uses = _Uses(parents, names, use_by_callee), {}
    for parameter in (a.arg for a in tree.args.args):
        own_uses = [find.use_of(n) for n in names if n.id == parameter]
        uses[parameter] = ParameterUse(
            may_write=any(use.may_write for use in own_uses),
            fewest_indices=min((use.fewest_indices for use in own_uses), default=ANY_RANK),
        )
    return uses


ANY_RANK = 99


class _Uses:
    """Finds how a function uses its arrays, and the parts of them that it keeps in variables.

    ``parents`` maps each node of the function to the node around it, and ``names`` are its names.
    ``use_by_callee(call, position)`` returns the use of an argument, or None if it is unknown.
    """

    def __init__(self, parents: dict[ast.AST, ast.AST], names: list, use_by_callee: Callable):
        self._parents = parents
        self._names = names
        self._use_by_callee = use_by_callee
        self._examined: set[str] = set()  # the variables whose uses are being examined

    def use_of(self, name: ast.Name) -> ParameterUse:
        """Return the ParameterUse of one occurrence of a parameter, or of a part of an array.

        A read has the number of its indices, as in ``x[i, j]`` or ``x[i][j]``, plus the fewest
        indices with which the part that it gives is read later. An attribute or a length has
        ANY_RANK. If ``use_by_callee`` returns None for an argument of a
        call, and for any other occurrence, the parameter counts as written.
        """
        parent = self._parents[name]
        if _is_read(name, parent):
            count = _index_count(parent)
            while count and _is_read(parent, self._parents[parent]):
                parent = self._parents[parent]
                count += _index_count(parent)
            if _is_stored_to(parent, self._parents[parent]):
                return ParameterUse(True, count)
            return ParameterUse(False, count + self._indices_later(parent))
        if _is_query(parent):
            return ParameterUse(False, ANY_RANK)
        return self._use_as_argument(name) or ParameterUse(True, ANY_RANK)

    def _use_as_argument(self, node: ast.expr) -> ParameterUse | None:
        """Return the ParameterUse of a node that is a positional argument of a call.

        Returns None if it is none, or if the callee's use of it is unknown.
        """
        parent = self._parents[node]
        if isinstance(parent, ast.Call) and node in parent.args:
            return self._use_by_callee(parent, parent.args.index(node))
        return None

    def _indices_later(self, part: ast.Subscript) -> int:
        """Return the fewest indices with which a part of an array is read later.

        The part is an argument of a call or is assigned to a variable. The result is 0 if it may be
        written, and for any other part, which may be a number.
        """
        parent = self._parents[part]
        if _is_read(part, parent):
            return 0
        use = self._use_as_argument(part)
        if use is None and isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            target = parent.targets[0]
            use = self._use_of_variable(target.id) if isinstance(target, ast.Name) else None
        return 0 if use is None or use.may_write else use.fewest_indices

    def _use_of_variable(self, name: str) -> ParameterUse:
        """Return the ParameterUse of all occurrences of a variable together.

        While a variable is being examined, it counts as never used, which ends a cycle of
        variables.
        """
        if name in self._examined:
            return ParameterUse(False, ANY_RANK)
        self._examined.add(name)
        uses = [self.use_of(n) for n in self._names if n.id == name and not self._is_assigned(n)]
        self._examined.discard(name)
        return ParameterUse(
            may_write=any(use.may_write for use in uses),
            fewest_indices=min((use.fewest_indices for use in uses), default=ANY_RANK),
        )

    def _is_assigned(self, name: ast.Name) -> bool:
        """Return True for the target of a plain assignment."""
        return isinstance(self._parents[name], ast.Assign) and not _loads(name)


def _is_read(node: ast.expr, parent: ast.AST) -> bool:
    """Return True if ``parent`` is a subscript that reads from the array ``node``."""
    return (
        isinstance(parent, ast.Subscript)
        and parent.value is node
        and isinstance(parent.ctx, ast.Load)
    )


def _is_stored_to(node: ast.expr, parent: ast.AST) -> bool:
    """Return True if ``parent`` is a subscript that stores to the array ``node``."""
    return (
        isinstance(parent, ast.Subscript)
        and parent.value is node
        and not isinstance(parent.ctx, ast.Load)
    )


def _is_query(parent: ast.AST) -> bool:
    """Return True if the parent is an attribute, such as ``x.shape``, or a call of ``len``."""
    return isinstance(parent, ast.Attribute) or (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Name)
        and parent.func.id == "len"
    )


def _index_count(subscript: ast.Subscript) -> int:
    """Return the number of dimensions that a subscript surely fixes.

    A subscript with a slice counts as 0. A single name counts as 1, because it may hold a tuple.
    """
    index = subscript.slice
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return 0 if any(isinstance(p, ast.Slice) for p in parts) else len(parts)
