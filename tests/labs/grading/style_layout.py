"""Styles of layout: blanks, line ends, parentheses, temporaries, docstrings and comments."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable

_SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr)


def unparsed(tree: ast.AST) -> str:
    """Return the text of a syntax tree, with a newline at its end."""
    return f"{ast.unparse(ast.fix_missing_locations(tree))}\n"


def layout(change: Callable[[str], str]) -> Callable[[str], str]:
    """Return a style that changes each line of a text without docstrings and comments."""

    def style(text: str) -> str:
        lines = unparsed(without_docstrings(ast.parse(text))).splitlines()
        return "".join(f"{change(line)}\n" for line in lines)

    return style


def without_docstrings(tree: ast.Module) -> ast.Module:
    for node in (tree, *functions_of_module(tree)):
        first = node.body[0] if node.body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def functions_of_module(tree: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)]


def indented(unit: str) -> Callable[[str], str]:
    def change(line: str) -> str:
        inner = line.lstrip(" ")
        return unit * ((len(line) - len(inner)) // 4) + inner

    return change


def joined_by_semicolons(text: str) -> str:
    """Write simple statements that follow each other on one line."""
    tree = without_docstrings(ast.parse(text))
    lines = unparsed(tree).splitlines()
    tree = ast.parse("\n".join(lines))
    for node in ast.walk(tree):
        for body in (getattr(node, "body", []), getattr(node, "orelse", [])):
            if isinstance(node, ast.Module) or not isinstance(body, list):
                continue
            pairs = itertools.pairwise(body)
            for one, other in [*pairs][::2]:
                if isinstance(one, _SIMPLE) and isinstance(other, _SIMPLE):
                    lines[one.lineno - 1] += f"; {lines[other.lineno - 1].lstrip()};"
                    lines[other.lineno - 1] = ""
    return "\n".join(lines) + "\n"


def values_written(change: Callable[[str], str]) -> Callable[[str], str]:
    """Return a style that writes the values and tests of statements in functions differently."""

    class Written(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            self.generic_visit(node)
            for name in ("value", "test", "iter"):
                value = getattr(node, name, None)
                if isinstance(node, ast.stmt) and isinstance(value, ast.expr):
                    if isinstance(node, ast.Expr) and isinstance(value, ast.Constant):
                        continue
                    setattr(node, name, ast.Name(change(ast.unparse(value)), ast.Load()))
            return node

    def style(text: str) -> str:
        tree = ast.parse(text)
        for node in functions_of_module(tree):
            node.body = [Written().visit(one) for one in node.body]
        return unparsed(tree)

    return style


def over_lines(text: str) -> str:
    return "(\n" + re.sub(r" (\+|\*|%|<|!=|and) ", r"\n            \1 ", text) + "\n    )"


def temporaries(text: str) -> str:
    """Give the test of each `if` a name of its own before it is used."""

    class Named(ast.NodeTransformer):
        def visit_If(self, node: ast.If) -> list[ast.stmt]:
            self.generic_visit(node)
            named = ast.Assign([ast.Name("asked", ast.Store())], node.test, lineno=1)
            node.test = ast.Name("asked", ast.Load())
            return [named, node]

    tree = ast.parse(text)
    for function in functions_of_module(tree):
        function.body = [one for node in function.body for one in _listed(Named().visit(node))]
    return unparsed(tree)


def _listed(node: ast.AST | list) -> list:
    return node if isinstance(node, list) else [node]


DOCSTRING = r'''"""What this does, with "quotes" and a backslash: \\.

    def scale(x, out):
        %time print("this is no code")

    >>> !ls
    """'''


def docstrings(text: str) -> str:
    """Give every function a docstring that looks like code."""
    tree = without_docstrings(ast.parse(text))
    for function in functions_of_module(tree):
        function.body.insert(0, ast.Expr(ast.Name(DOCSTRING, ast.Load())))
    return unparsed(tree)


def annotations(text: str) -> str:
    """Annotate all parameters and results, partly by texts."""
    tree = ast.parse(text)
    for function in functions_of_module(tree):
        for number, one in enumerate(function.args.args):
            one.annotation = [ast.Constant("float32[:]"), ast.Name("float", ast.Load())][number % 2]
        function.returns = ast.Constant("None")
    return unparsed(tree)


def with_comments(text: str) -> str:
    """Put comments that look like code on and between all lines."""
    lines = layout(lambda line: f"{line}  # def f(x): {{'a': f\"{{open('x')}}\"}} \\")(text)
    return "# 'a text that does not end, (\n#!pip install numba\n" + lines


def with_form_feeds(text: str) -> str:
    """Put a form feed before each function, and signs that some editors take for line ends."""
    return re.sub(r"^(@|def )", "\f\n# a\u2028b\x1cc\x85d\n\\1", text, count=1, flags=re.MULTILINE)
