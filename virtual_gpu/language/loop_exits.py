"""Which names of a ``while`` loop decide when it ends."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

_LEAVES = (ast.Break, ast.Return, ast.Raise, ast.Assert)


@functools.cache
def deciding_names(loop: ast.While) -> frozenset[str]:
    """Return the names whose values decide how often a loop runs, as far as its text shows.

    They are the names in its condition, in the branches that leave it, and those from which the
    loop computes them, or on which it depends whether it does. If all of them have the values of
    the iteration before, the loop goes on for ever.
    """
    names = {n for test in _exit_tests(loop) for n in _names(test)}
    changes = list(_changes(loop.body, frozenset()))
    while True:
        found = {n for targets, sources in changes if targets & names for n in sources}
        if found <= names:
            return frozenset(names)
        names |= found


@functools.cache
def stored_names(loop: ast.While) -> frozenset[str]:
    """Return the names that the body of a loop may change, of variables and of arrays."""
    return frozenset(n for targets, _ in _changes(loop.body, frozenset()) for n in targets)


def _exit_tests(loop: ast.While) -> Iterator[ast.expr]:
    """Yield the condition of a loop, and those of all branches and loops around its exits."""
    yield loop.test
    for node in ast.walk(loop):
        if isinstance(node, ast.If | ast.While | ast.For | ast.Match) and node is not loop:
            if any(isinstance(inner, _LEAVES) for inner in ast.walk(node)):
                yield from _heads(node)
        elif isinstance(node, ast.Assert):
            yield node.test


def _heads(node: ast.stmt) -> list[ast.expr]:
    """Return the expressions that decide whether, or how often, the body of a statement runs."""
    if isinstance(node, ast.If | ast.While):
        return [node.test]
    if isinstance(node, ast.For):
        return [node.iter]
    return [node.subject] if isinstance(node, ast.Match) else []


def _changes(
    statements: list[ast.stmt], around: frozenset[str]
) -> Iterator[tuple[set[str], set[str]]]:
    """Yield (names that a statement may change, names that decide what it does to them).

    ``around`` holds the names in the conditions of the branches and loops around the statements.
    A call may change each array that is passed to it.
    """
    for node in statements:
        heads = around | {n for head in _heads(node) for n in _names(head)}
        inner = [*getattr(node, "body", ()), *getattr(node, "orelse", ())]
        for case in getattr(node, "cases", ()):
            inner += case.body
        if inner:
            yield from _changes(inner, heads)
            if isinstance(node, ast.For):
                yield _names(node.target), set(heads)
            own = _heads(node)
        else:
            own = [node]
        for part in own:
            names = _names(part)
            stored = {n.id for n in ast.walk(part) if isinstance(n, ast.Name) and _is_stored(n)}
            stored |= {n for s in ast.walk(part) if _is_store(s) for n in _names(s.value)}
            stored |= {n for c in ast.walk(part) if isinstance(c, ast.Call) for a in c.args
                       for n in _names(a)}  # fmt: skip
            if stored:
                yield stored, names | heads


def _is_stored(name: ast.Name) -> bool:
    """Return True if a variable is assigned here."""
    return isinstance(name.ctx, ast.Store)


def _is_store(node: ast.AST) -> bool:
    """Return True if an element or a field is assigned here."""
    return isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store)


def _names(node: ast.AST) -> set[str]:
    """Return the names in a syntax tree."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
