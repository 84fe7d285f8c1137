"""Finds the names in a ``while`` loop on which it depends when the loop ends."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

_LEAVES = (ast.Break, ast.Return, ast.Raise, ast.Assert)


@functools.cache
def deciding_names(loop: ast.While) -> frozenset[str]:
    """Return the names whose values decide how often a loop runs, as far as its text shows.

    They are the names in the loop's condition and in the conditions of the branches that leave it.
    Added to them are the names from which the loop computes such a name, and the names in
    conditions around this computation, and so on. If an iteration changes none of their values, the
    loop goes on for ever.
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
    """Return the names of the variables and arrays that the body of a loop may change.

    An array counts if one of its elements may be stored, also by a function to which it is passed.
    """
    return frozenset(n for targets, _ in _changes(loop.body, frozenset()) for n in targets)


def _exit_tests(loop: ast.While) -> Iterator[ast.expr]:
    """Yield the condition of a loop, and those of the branches and loops within it that may end it.

    They end it if they contain ``break``, ``return``, ``raise`` or ``assert``. The condition of
    each ``assert`` is yielded, too.
    """
    yield loop.test
    for node in ast.walk(loop):
        if isinstance(node, ast.If | ast.While | ast.For | ast.Match) and node is not loop:
            if any(isinstance(inner, _LEAVES) for inner in ast.walk(node)):
                yield from _heads(node)
        elif isinstance(node, ast.Assert):
            yield node.test


def _heads(node: ast.stmt) -> list[ast.expr]:
    """Return the expression that decides whether, or how often, the body of a statement runs.

    It is alone in a list, which is empty for a statement without a condition.
    """
    if isinstance(node, ast.If | ast.While):
        return [node.test]
    if isinstance(node, ast.For):
        return [node.iter]
    return [node.subject] if isinstance(node, ast.Match) else []


def _changes(
    statements: list[ast.stmt], around: frozenset[str]
) -> Iterator[tuple[set[str], set[str]]]:
    """Yield (names that a statement may change, names on which their new values depend).

    There is one pair per statement that may change a name, also within branches and loops. The
    second set holds the names that the statement reads, and those in the conditions around it, to
    which ``around`` belongs. A call may change each array that is passed to it.
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
    """Return the names of the variables in a syntax tree, those of functions among them."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
