"""Inner functions: those defined within a kernel, by ``def`` or as a lambda with a name.

Numba inlines them at each call. Here an inner function is compiled as a function of its own, and
the variables that it reads from the enclosing function become additional arguments of each call.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable
from dataclasses import dataclass

from ..common.source import Source, assigned_names, later_tests, own_nodes
from .inference import with_outer_names
from .program import Program


@dataclass(frozen=True)
class InnerFunction:
    """A compiled inner function.

    ``free`` names the variables of the enclosing function that the inner function reads; they are
    the last parameters of ``program``. ``definition`` is its syntax tree without these parameters.
    """

    program: Program
    free: tuple[str, ...]
    definition: ast.FunctionDef


def definition_of(
    outer: Source, node: ast.FunctionDef | ast.Lambda, name: str, earlier: Iterable[InnerFunction]
) -> ast.FunctionDef:
    """Return an inner function as a ``def`` statement in a new syntax tree.

    A lambda gets the ``name``; a ``def`` statement keeps its own. Its body begins with the
    definitions of those of the ``earlier`` inner functions that it calls. Raises Unsupported for a
    decorator, defaults, keyword-only arguments, ``*args``, ``**kwargs`` or a nonlocal variable.
    """
    arguments = node.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
        raise outer.refuse(node, "an inner function with defaults, *args or **kwargs")
    if any(isinstance(n, ast.Nonlocal) for n in ast.walk(node)):
        raise outer.refuse(node, "an inner function with a nonlocal variable")
    if getattr(node, "decorator_list", ()):
        raise outer.refuse(node, "an inner function with a decorator")
    tree = _as_definition(node, name)
    read = _free_names(tree)
    callees = [copy.deepcopy(f.definition) for f in earlier if f.definition.name in read]
    tree.body = callees + tree.body
    return tree


def inner_source(outer: Source, definition: ast.FunctionDef) -> tuple[Source, tuple[str, ...]]:
    """Return the tuple (Source of an inner function, names of its free variables).

    The free variables are those of the enclosing function, in alphabetical order. In the Source
    they are additional parameters at the end.
    """
    tree = copy.deepcopy(definition)
    free = tuple(sorted(_free_names(tree) & assigned_names(outer.tree)))
    tree.args.args += [ast.copy_location(ast.arg(n), tree) for n in free]
    function = with_outer_names(copy.deepcopy(tree), outer.function)
    tests = later_tests(tree)
    source = Source(function, tree.name, outer.file, tree, outer.names, outer.lines, (), tests)
    return source, free


def _as_definition(node: ast.FunctionDef | ast.Lambda, name: str) -> ast.FunctionDef:
    """Return a copy of an inner function as a ``def`` statement; a lambda gets the ``name``."""
    node = copy.deepcopy(node)
    if isinstance(node, ast.FunctionDef):
        return node
    body = [ast.copy_location(ast.Return(node.body), node.body)]
    definition = ast.FunctionDef(name, node.args, body, [])
    return ast.fix_missing_locations(ast.copy_location(definition, node))


def _free_names(tree: ast.FunctionDef) -> set[str]:
    """Return the names that a function, or a function within it, reads but does not bind.

    Globals and builtins are among them.
    """
    own = list(own_nodes(tree))
    within = [n for n in own if isinstance(n, ast.FunctionDef | ast.Lambda)]
    read = {n.id for n in own if isinstance(n, ast.Name)}
    read = read.union(*(_free_names(_as_definition(n, "lambda")) for n in within))
    bound = {n.name for n in within if isinstance(n, ast.FunctionDef)}
    return read - bound - assigned_names(tree)
