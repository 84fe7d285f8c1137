"""Functions that are defined within a kernel: by ``def``, or by a lambda with a name.

Numba puts their text in the place of each call. Here they are functions of their own, whose free
variables, those of the function around them, are passed as further arguments at each call.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass

from .inference import with_outer_names
from .program import Program
from .source import Source, assigned_names, later_tests


@dataclass(frozen=True)
class InnerFunction:
    """A function within a function. ``free``: the variables around it that it reads; they are its
    last parameters."""

    program: Program
    free: tuple[str, ...]


def inner_source(outer: Source, node: ast.FunctionDef | ast.Lambda) -> tuple[Source, tuple]:
    """An inner function as a function of its own, and its free variables."""
    arguments, name = node.args, getattr(node, "name", "lambda")
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
        raise outer.refuse(node, "an inner function with defaults, *args or **kwargs")
    if any(isinstance(n, ast.Nonlocal) for n in ast.walk(node)):
        raise outer.refuse(node, "an inner function with a nonlocal variable")
    if getattr(node, "decorator_list", ()):
        raise outer.refuse(node, "an inner function with a decorator")
    tree = _definition(node, name)
    read = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - assigned_names(tree)
    free = tuple(sorted(read & assigned_names(outer.tree)))
    tree.args.args += [ast.copy_location(ast.arg(n), node) for n in free]
    function = with_outer_names(copy.deepcopy(tree), outer.function)
    tests = later_tests(tree)
    source = Source(function, name, outer.file, tree, outer.names, outer.lines, (), tests)
    return source, free


def _definition(node: ast.FunctionDef | ast.Lambda, name: str) -> ast.FunctionDef:
    node = copy.deepcopy(node)
    if isinstance(node, ast.FunctionDef):
        return node
    body = [ast.copy_location(ast.Return(node.body), node.body)]
    definition = ast.FunctionDef(name, node.args, body, [])
    return ast.fix_missing_locations(ast.copy_location(definition, node))
