"""Styles of constants and whole numbers: powers, annotations, several names, other digits."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tests.labs.grading.style_layout import (
    unparsed,
)


def constants_written(change: Callable[[int], str], above: str = "") -> Callable[[str], str]:
    """Return a style that writes the whole numbers of a module's constants in another way."""

    class Written(ast.NodeTransformer):
        def visit_Constant(self, node: ast.Constant) -> ast.expr:
            if type(node.value) is not int:
                return node
            return ast.parse(change(node.value), mode="eval").body

    def style(text: str) -> str:
        tree = ast.parse(text)
        for node in tree.body:
            if isinstance(node, ast.Assign) and not isinstance(node.value, ast.List):
                node.value = Written().visit(node.value)
        return f"{above}{unparsed(tree)}"

    return style


def as_power(value: int) -> str:
    power = value.bit_length() - 1
    return f"2 ** {power}" if value == 2**power else f"int({value})"


def constants_annotated(text: str) -> str:
    """Write `TILE: int = 16` for `TILE = 16`."""
    tree = ast.parse(text)
    for number, node in enumerate(tree.body):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            if isinstance(node.value, ast.List):
                continue
            kind = ast.Name("object", ast.Load())
            tree.body[number] = ast.AnnAssign(node.targets[0], kind, node.value, simple=1)
    return unparsed(tree)


def constants_unpacked(text: str) -> str:
    """Set all constants with literal values in one statement, as `A, B = 16, 32`."""
    tree = ast.parse(text)
    own = [
        node
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        and isinstance(node.targets[0], ast.Name)
    ]  # fmt: skip
    if not own:
        return text
    names = ast.Tuple([ast.Name("_first", ast.Store()), *(one.targets[0] for one in own)])
    names.ctx = ast.Store()
    values = ast.Tuple([ast.Constant(0), *(one.value for one in own)], ast.Load())
    where = tree.body.index(own[0])
    tree.body[where] = ast.Assign([names], values, lineno=1)
    tree.body = [node for node in tree.body if node not in own]
    return unparsed(tree)


def constants_changed_before(text: str) -> str:
    """Set each whole constant to the half of its value first, and then to twice that value."""
    tree, body = ast.parse(text), []
    for node in tree.body:
        body.append(node)
        value = getattr(getattr(node, "value", None), "value", None)
        if isinstance(node, ast.Assign) and type(value) is int and value % 2 == 0:
            node.value = ast.Constant(value // 2)
            name = ast.Name(node.targets[0].id, ast.Store())
            body.append(ast.AugAssign(name, ast.Mult(), ast.Constant(2)))
    tree.body = body
    return unparsed(tree)


def constants_below(text: str) -> str:
    """Move the constants below the functions, where Python finds them at the launch, too."""
    tree = ast.parse(text)
    own = [
        node
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    ]
    used = {
        one.id
        for node in tree.body
        if not isinstance(node, ast.FunctionDef)
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
    }
    moved = [node for node in own if node.targets[0].id not in used]
    tree.body = [node for node in tree.body if node not in moved] + moved
    return unparsed(tree)


def whole_numbers_written(change: Callable[[int], str]) -> Callable[[str], str]:
    """Return a style that writes all whole numbers of a text in another way."""

    class Written(ast.NodeTransformer):
        def visit_Constant(self, node: ast.Constant) -> ast.expr:
            if type(node.value) is not int:
                return node
            return ast.Name(change(node.value), ast.Load())  # only its text counts

    return lambda text: unparsed(Written().visit(ast.parse(text)))


def with_underscores(value: int) -> str:
    return f"{str(value)[:1]}_{str(value)[1:]}" if value >= 10 else str(value)
