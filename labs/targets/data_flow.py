"""Where a kernel's loaded values go, read from its source code."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from labs.checking.run import Run
from labs.targets.divisions import named_functions
from virtual_gpu import Site
from virtual_gpu.common.source import read_source

CONVERSIONS = {"float32"}  # of a float32, which change nothing


def steered(run: Run, *parameters: str) -> Site | None:
    """Return a line with an index, condition or range that depends on a loaded value, or None.

    A range is that of a `for` loop. A comparison counts as a condition. A line of the kernel comes
    before one of the functions that it names, which are read, too; in them each parameter may be an
    array of the values. parameters: the exercise's names of the arrays from which the values are
    loaded.
    """
    source = read_source(run.kernel.py_func)
    for one in (source, *named_functions(source, {source.function})):
        own = {run.names[name] for name in parameters}
        arrays = own if one is source else set(one.parameters)
        loaded = _loaded_names(one.tree, arrays)
        for node in ast.walk(one.tree):
            steering = getattr(node, "test", getattr(node, "iter", None))
            if isinstance(node, ast.Subscript | ast.Compare):
                steering = node.slice if isinstance(node, ast.Subscript) else node
            if steering is not None and _is_loaded(steering, arrays, loaded):
                return one.site(node)
    return None


def computing(run: Run, array: str, stored_in: Set[str]) -> list[Site]:
    """Return the source lines that compute with a value loaded from an array, in no certain order.

    Such a line has an operator, a comparison or a call with the value; a conversion does not count.
    A line with several of them is returned several times. array: the reader's name of it.
    stored_in: names of arrays whose elements are not followed.
    """
    source = read_source(run.kernel.py_func)
    loaded = _loaded_names(source.tree, {array}, stored_in)
    return [
        source.site(node)
        for node in ast.walk(source.tree)
        if any(_name(one) != array and _is_loaded(one, {array}, loaded) for one in _operands(node))
    ]


def _operands(node: ast.AST) -> list[ast.expr]:
    """Return the values with which a node of a syntax tree computes.

    They are the operands of an operator or comparison, and the arguments of a call. The list is
    empty for any other node and for a conversion.
    """
    match node:
        case ast.BinOp():
            return [node.left, node.right]
        case ast.UnaryOp():
            return [node.operand]
        case ast.Compare():
            return [node.left, *node.comparators]
        case ast.AugAssign():
            return [node.target, node.value]
        case ast.Call() if _name(node.func) not in CONVERSIONS:
            return node.args
    return []


def _loaded_names(tree: ast.AST, arrays: set[str], stored_in: Set[str] = frozenset()) -> set[str]:
    """Return the names of variables whose values may come from elements of these arrays.

    A variable that is computed from such a variable is one, too, unless it is in `stored_in`.
    """
    assignments = [pair for node in ast.walk(tree) for pair in _assignments(node)]
    names: set[str] = set()
    while True:
        found = {
            name
            for target, value in assignments
            if _is_loaded(value, arrays, names)
            for name in _changed_by(target) - stored_in
        }
        if found <= names:
            return names
        names |= found


def _assignments(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield each target of an assignment with its value; two tuples give a pair per element."""
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    value = getattr(node, "value", None)
    for target in targets if value else ():
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            yield from zip(target.elts, value.elts)
        elif target is not None:
            yield target, value


def _changed_by(target: ast.expr) -> set[str]:
    """Return the names of the variables and arrays that an assignment to this target changes."""
    if isinstance(target, ast.Tuple | ast.List):
        return set().union(*map(_changed_by, target.elts))
    while isinstance(target, ast.Subscript | ast.Starred):
        target = target.value
    return {target.id} if isinstance(target, ast.Name) else set()


def _is_loaded(node: ast.AST, arrays: set[str], names: set[str]) -> bool:
    """Return True if an expression may hold an element of one of these arrays.

    It does if it indexes an array, passes a whole one to a call, or uses a variable in `names`. The
    length and the attributes of an array, such as its shape, do not count.
    """
    is_size = isinstance(node, ast.Call) and _name(node.func) == "len"
    if is_size or isinstance(node, ast.Attribute):
        return False
    if isinstance(node, ast.Name) and node.id in names:
        return True
    parts = [node.value] if isinstance(node, ast.Subscript) else getattr(node, "args", [])
    if any(_name(part) in arrays for part in parts):
        return True
    return any(_is_loaded(child, arrays, names) for child in ast.iter_child_nodes(node))


def _name(node: ast.AST) -> str | None:
    """Return the identifier if a node is a plain name, or None if it is something else."""
    return node.id if isinstance(node, ast.Name) else None
