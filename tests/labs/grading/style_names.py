"""Styles of names: imports under other names, compiling calls, lambdas and helper functions."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tests.labs.grading.style_layout import (
    unparsed,
    without_docstrings,
)

# What Numba compiles also without `cuda.`. It cannot type `threadIdx` or `shared` by themselves.
TYPED = {"jit", "grid", "gridsize", "syncthreads", "shfl_down_sync", "shfl_xor_sync", "shfl_sync"}


def imported_as(old: str, above: str, new: str) -> Callable[[str], str]:
    """Return a style in which a name of an import is written in another way.

    above: the import that is put first. new: the expression that replaces the name.
    """

    class Renamed(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return ast.parse(new, mode="eval").body if node.id == old else node

    def style(text: str) -> str:
        tree = ast.parse(text)
        if old not in _imported(tree):
            return text
        tree = Renamed().visit(_without_import(tree, old))
        return f"{above}\n{unparsed(tree)}"

    return style


def _imported(tree: ast.Module) -> set[str]:
    nodes = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return {alias.asname or alias.name for node in nodes for alias in node.names}


def _without_import(tree: ast.Module, name: str) -> ast.Module:
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            node.names = [one for one in node.names if (one.asname or one.name) != name]
    tree.body = [node for node in tree.body if getattr(node, "names", True)]
    return tree


def names_one_by_one(text: str) -> str:
    """Write `grid` for `cuda.grid` and `jit` for `cuda.jit`, by `from numba.cuda import`."""
    tree = ast.parse(text)
    if "cuda" not in _imported(tree):
        return text
    members = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and _is_name(node.value, "cuda")
    }
    taken = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    taken |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    members = members & TYPED - taken

    class OneByOne(ast.NodeTransformer):
        def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
            self.generic_visit(node)
            by_cuda = _is_name(node.value, "cuda") and node.attr in members
            return ast.Name(node.attr, ast.Load()) if by_cuda else node

    above = f"from numba.cuda import {', '.join(sorted(members))}\n" if members else ""
    return f"{above}{unparsed(OneByOne().visit(tree))}"


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def compiled_by_a_call(text: str) -> str:
    """Write `name = cuda.jit(name_py)` below a function instead of a decorator above it."""
    tree, body = ast.parse(text), []
    for node in tree.body:
        body.append(node)
        if isinstance(node, ast.FunctionDef) and len(node.decorator_list) == 1:
            own, (decorator,) = node.name, node.decorator_list
            node.decorator_list, node.name = [], f"{own}_py"
            call = ast.Call(decorator, [ast.Name(node.name, ast.Load())], [])
            body.append(ast.Assign([ast.Name(own, ast.Store())], call, lineno=1))
    tree.body = body
    return unparsed(tree)


def decorated_by_a_name(text: str) -> str:
    """Give the decorator of each function a name of its own."""
    tree, body = ast.parse(text), []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and len(node.decorator_list) == 1:
            name = f"compiled_{len(body)}"
            body.append(ast.Assign([ast.Name(name, ast.Store())], node.decorator_list[0], lineno=1))
            node.decorator_list = [ast.Name(name, ast.Load())]
        body.append(node)
    tree.body = body
    return unparsed(tree)


def lambdas(text: str) -> str:
    """Write a function of one `return`, without a decorator, as a lambda."""
    tree = without_docstrings(ast.parse(text))
    for number, node in enumerate(tree.body):
        if isinstance(node, ast.FunctionDef) and not node.decorator_list:
            (first, *others) = node.body
            if isinstance(first, ast.Return) and not others:
                target = ast.Name(node.name, ast.Store())
                function = ast.Lambda(node.args, first.value)
                tree.body[number] = ast.Assign([target], function, lineno=1)
    return unparsed(tree)


def helpers(text: str) -> str:
    """Pass the first value of each function through a function of its own."""
    return _with_helper(text, inner=False)


def inner_helpers(text: str) -> str:
    """Pass the first value of each function through a function that is defined within it."""
    return _with_helper(text, inner=True)


def _with_helper(text: str, inner: bool) -> str:
    tree, body = ast.parse(text), []
    for number, node in enumerate(tree.body):
        if isinstance(node, ast.FunctionDef):
            name = f"same_{number}"
            helper = ast.parse(f"def {name}(value):\n    return value\n").body[0]
            if _passed_through(node, name):
                if inner:
                    node.body.insert(0, helper)
                else:
                    helper.decorator_list = _of_a_helper(node)
                    body.append(helper)
        body.append(node)
    tree.body = body
    return unparsed(tree)


def _of_a_helper(function: ast.FunctionDef) -> list[ast.expr]:
    if not function.decorator_list:
        return []
    decorator = ast.unparse(function.decorator_list[0])
    text = "cuda.jit(device=True)" if decorator.startswith("cuda.jit") else decorator
    return [ast.parse(text, mode="eval").body]


def _passed_through(function: ast.FunctionDef, helper: str) -> bool:
    """Pass a right side that is an index or a product through a helper, if there is any."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
            node.value = ast.Call(ast.Name(helper, ast.Load()), [node.value], [])
            return True
    return False
