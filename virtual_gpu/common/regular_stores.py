"""Tells stores that depend on thread indices alone from those that depend on arrays' content."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from types import UnionType

from .source import Source, own_nodes

_SIZES = frozenset({"shape", "size", "ndim", "strides"})
_FUNCTIONS = frozenset({
    "grid", "gridsize", "range", "len", "min", "max", "abs", "int", "ceil", "floor", "cdiv",
    "int32", "uint32", "int64", "uint64",
})  # fmt: skip


def filled_by_index(source: Source) -> frozenset[str]:
    """Return the names of the parameters whose elements are stored by thread index alone.

    Which elements of such an array are stored depends on thread indices, extents and arguments that
    are numbers, and not on the content of any array. An array is left out if the function does
    anything else with it than to store to its elements and to read its extents.
    """
    stores = list(_stores(source.tree))
    arrays = {store.value.id for store, _ in stores} & set(source.parameters)
    irregular = _names_with(source.tree, lambda value, names: not _is_regular(value, names))
    exits = _exit_conditions(source.tree, ast.Return | ast.Break | ast.Continue)
    return frozenset(
        name
        for name in arrays
        if _is_only_indexed(source.tree, name)
        and all(
            _is_regular(part, irregular)
            for store, conditions in stores
            if store.value.id == name
            for part in (store.slice, *conditions, *exits)
        )
    )


def _stores(tree: ast.AST, conditions: tuple = ()) -> Iterator[tuple[ast.Subscript, tuple]]:
    """Yield (subscript of a name that is stored to, conditions around it) per store in a tree.

    The conditions are a tuple, the outermost first, which begins with ``conditions``: the tests of
    ``if`` and ``while``, and the iterables of ``for``.
    """
    for child in ast.iter_child_nodes(tree):
        around = conditions
        if isinstance(child, ast.If | ast.While):
            around = (*conditions, child.test)
        elif isinstance(child, ast.For):
            around = (*conditions, child.iter)
        stored = isinstance(child, ast.Subscript) and isinstance(child.ctx, ast.Store)
        if stored and isinstance(child.value, ast.Name):
            yield child, conditions
        yield from _stores(child, around)


def _exit_conditions(tree: ast.FunctionDef, exits: UnionType) -> list[ast.expr]:
    """Return the conditions of all ``if`` statements that contain a statement of ``exits``.

    ``exits`` are types of nodes. A statement in the ``else`` part counts, too.
    """
    return [
        node.test
        for node in own_nodes(tree)
        if isinstance(node, ast.If)
        and any(isinstance(n, exits) for n in ast.walk(node))
    ]


def _is_only_indexed(tree: ast.FunctionDef, name: str) -> bool:
    """Return True if a name is used only to store to its elements and to read its extents.

    The extents are the attributes in _SIZES, such as ``shape``.
    """
    allowed = {
        id(node.value)
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and node.attr in _SIZES)
        or (isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store))
    }
    uses = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == name]
    return all(id(use) in allowed for use in uses)


def chosen_by_data(tree: ast.FunctionDef) -> frozenset[ast.Subscript]:
    """Return the subscripts that are stored to only where the content of an array says so.

    A condition around such a store reads an element, or one around a ``return`` or ``continue``
    anywhere in the function does. An array's
    element with a constant index, such as ``a_shape[1]``, counts as an extent.
    """
    chosen = _names_with(tree, _reads_element)
    exits = _exit_conditions(tree, ast.Return | ast.Continue)
    return frozenset(
        store
        for store, conditions in _stores(tree)
        if any(_reads_element(part, chosen) for part in (*conditions, *exits))
    )


def indexed_by_data(tree: ast.FunctionDef) -> frozenset[ast.Subscript]:
    """Return the subscripts that are stored to at an index that depends on an array's content."""
    names = _names_with(tree, _reads_element)
    return frozenset(store for store, _ in _stores(tree) if _reads_element(store.slice, names))


def _reads_element(node: ast.expr, names: set[str]) -> bool:
    """Return True if an expression reads a name in ``names``, or an element at a variable index."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id in names:
            return True
        is_element = isinstance(part, ast.Subscript) and not _is_extent(part)
        if is_element and any(isinstance(n, ast.Name) for n in ast.walk(part.slice)):
            return True
    return False


def _is_extent(node: ast.Subscript) -> bool:
    """Return True for a subscript of an attribute in _SIZES, such as ``x.shape[1]``."""
    return isinstance(node.value, ast.Attribute) and node.value.attr in _SIZES


def _names_with(tree: ast.FunctionDef, holds: Callable[[ast.expr, set[str]], bool]) -> set[str]:
    """Return the names of the variables that get a value for which ``holds(value, names)`` is True.

    ``names`` is the set of the names found so far. The search is repeated until no name is added,
    so that the property passes from variable to variable.
    """
    values = [pair for node in own_nodes(tree) for pair in _assigned(node)]
    names: set[str] = set()
    while True:
        found = {name for name, value in values if holds(value, names)}
        if found <= names:
            return names
        names |= found


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield (name, value) for each variable that a statement sets.

    The value is an expression. That of a variable of a ``for`` loop is what the loop iterates over.
    """
    if isinstance(node, ast.Assign):
        targets, value = node.targets, node.value
    elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.NamedExpr) and node.value:
        targets, value = [node.target], node.value
    elif isinstance(node, ast.For):
        targets, value = [node.target], node.iter
    else:
        return
    for target in targets:
        for part in ast.walk(target):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                yield part.id, value


def _is_regular(node: ast.expr, irregular: set[str]) -> bool:
    """Return True if an expression depends on no name in ``irregular`` and on no array's content.

    A call of a function that is not in _FUNCTIONS makes the result False.
    """
    if isinstance(node, ast.Attribute):
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        return isinstance(root, ast.Name) and root.id not in irregular
    if isinstance(node, ast.Subscript):
        return _is_extent(node) and _is_regular(node.slice, irregular)
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func
        name = name.id if isinstance(name, ast.Name) else name
        return name in _FUNCTIONS and all(_is_regular(a, irregular) for a in node.args)
    if isinstance(node, ast.Name):
        return node.id not in irregular
    return all(_is_regular(child, irregular) for child in ast.iter_child_nodes(node))
