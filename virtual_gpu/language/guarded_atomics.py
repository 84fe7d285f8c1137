"""Finds plain reads that only decide whether an atomic operation is worth trying.

``old = best[0]; while x > old: old = cas(best, 0, old, x)`` begins with a read that is no atomic,
and so does ``if x > best[0]: atomic.max(best, 0, x)``. Another thread may update the element at the
same time. That race is harmless, because the atomic reads the element again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

_SWAPS = ("cas", "compare_and_swap")  # of numba.cuda.atomic
_DECIDING = (*_SWAPS, "max", "min")


def reads_before_atomic(tree: ast.FunctionDef) -> frozenset[ast.Subscript]:
    """Return the nodes that read an element and guard an atomic operation on the same array.

    The value that is read is the expected one of a compare-and-swap, or it is in a condition on
    which a compare-and-swap, an atomic max or an atomic min depends.
    """
    body = ast.Module(tree.body, [])  # without decorators
    return frozenset(
        read
        for value, call in (*_expected(body), *_conditions(body))
        for read in _sources(body, value)
        if isinstance(read, ast.Subscript)
        and ast.unparse(read.value) == ast.unparse(call.args[0])
    )


def _expected(body: ast.AST) -> Iterator[tuple[ast.expr, ast.Call]]:
    """Yield (expected value, call) for each compare-and-swap in the syntax tree ``body``."""
    return ((call.args[-2], call) for call in _atomics(body, _SWAPS))


def _conditions(body: ast.AST) -> Iterator[tuple[ast.expr, ast.Call]]:
    """Yield the pair (value, atomic call) for each value that decides whether an atomic is tried.

    The value is a name or a subscript in the condition of an ``if`` or ``while`` whose body
    contains the call.
    """
    for node in ast.walk(body):
        if isinstance(node, ast.If | ast.While):
            values = [n for n in ast.walk(node.test) if isinstance(n, ast.Name | ast.Subscript)]
            for part in node.body:
                yield from ((value, call) for call in _atomics(part, _DECIDING) for value in values)


def _atomics(tree: ast.AST, names: tuple[str, ...]) -> Iterator[ast.Call]:
    """Yield the calls of ``cuda.atomic`` functions with these names.

    They are the method calls with at least three arguments, which excludes the builtin max and min.
    """
    for node in ast.walk(tree):
        is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if is_method and node.func.attr in names and len(node.args) >= 3:
            yield node


def _sources(tree: ast.AST, value: ast.expr) -> list[ast.expr]:
    """Return the expressions that a value may be a copy of, through any number of variables.

    They are the expressions other than names that are assigned to the variable, or to one that it
    copies. For a value that is no name, the result is that value alone.
    """
    sources, names, waiting = [], set(), [value]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.Name):
            sources.append(node)
        elif node.id not in names:
            names.add(node.id)
            waiting.extend(_assigned(tree, node.id))
    return sources


def _assigned(tree: ast.AST, name: str) -> list[ast.expr]:
    """Return the values that ``=`` assigns to a name in the syntax tree, as expressions.

    Other assignments, and those to a tuple with the name, do not count.
    """
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and any(isinstance(t, ast.Name) and t.id == name for t in node.targets)
    ]
