"""Code in a lesson: a whole step, what a step changes, what an edit changes."""

from __future__ import annotations

import ast
import html
import io
import sys
import tokenize
from collections.abc import Iterable
from types import ModuleType

from IPython.display import HTML

from utils.ladder.step import Step
from utils.lessons.edits import difference, source_of

_STYLE = """<style>
.lesson-code {font-family: monospace; font-size: 12px; white-space: pre; overflow-x: auto;
 border: 1px solid rgba(128,128,128,.4); border-radius: 6px; padding: 6px 0; line-height: 1.45}
.lesson-code div {padding: 0 10px}
.lesson-code .added {background: rgba(0,114,178,.18); border-left: 4px solid #0072b2}
.lesson-code .removed {background: rgba(213,94,0,.16); border-left: 4px solid #d55e00}
.lesson-code .skipped {opacity: .6}
</style>"""
_KINDS = {"+": "added", "-": "removed", "@": "skipped"}


def show_source(step: Step) -> HTML:
    """The whole file of a step."""
    return _block(source_of(step.file).rstrip().splitlines(), marked=False)


def show_change(old: Step, new: Step) -> HTML:
    """The difference between the code of two steps: what the lesson is about."""
    return _block(kernel_difference(old, new))


def show_difference(before: ModuleType, after: ModuleType) -> HTML:
    """The difference between two kernel files, one of them edited."""
    return _block(difference(source_of(before), source_of(after), context=2))


def kernel_difference(old: Step, new: Step) -> list[str]:
    """The lines of a diff between the code of two steps, each with + or - or a space before."""
    return difference(kernel_code(old), kernel_code(new), context=99)


def kernel_code(step: Step) -> str:
    """What computes in the file of a step: its kernel, device functions and constants.

    Imports, the launch and the record of the step are left out; so are comments, docstrings and
    empty lines, which are read in the file and in a diff would hide the code. A step with the
    kernel of another file has that file's code, and its own behind it.
    """
    homes = dict.fromkeys((step.build.__module__, step.module))
    return "\n".join(_what_computes(source_of(sys.modules[home])) for home in homes)


def _what_computes(text: str) -> str:
    lines = _without_comments(text)
    kept = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name not in ("launch", "calls"):
            kept += _at_the_margin(node, lines)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) != "STEP":
            kept += lines[node.lineno - 1 : node.end_lineno]
    return "\n".join(line for line in kept if line.strip())


def _at_the_margin(function: ast.FunctionDef, lines: list[str]) -> list[str]:
    """The lines of a function; those inside a factory as if they stood alone.

    So a kernel that a factory makes can be compared with one that needs none.
    """
    first = min([function.lineno, *(each.lineno for each in function.decorator_list)])
    inner = {
        line
        for node in function.body
        if isinstance(node, ast.FunctionDef)
        for line in range(node.decorator_list[0].lineno, node.end_lineno + 1)
    }
    return [
        lines[line - 1][4:] if line in inner else lines[line - 1]
        for line in range(first, function.end_lineno + 1)
    ]


def _without_comments(text: str) -> list[str]:
    """The lines of Python code; comments and docstrings leave empty ones behind."""
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
            told = node.body[0]
            lines[told.lineno - 1 : told.end_lineno] = [""] * (told.end_lineno - told.lineno + 1)
    return lines


def _block(lines: Iterable[str], marked: bool = True) -> HTML:
    lines = list(lines)
    if marked and lines[:1] and lines[0].startswith("@@"):
        lines = lines[1:]  # where the first part stands is of no interest
    rows = [f'<div class="{_kind(line) if marked else ""}">{_text(line)}</div>' for line in lines]
    return HTML(f'{_STYLE}<div class="lesson-code">{"".join(rows)}</div>')


def _kind(line: str) -> str:
    return _KINDS.get(line[:1], "")


def _text(line: str) -> str:
    return html.escape("⋯" if line.startswith("@@") else line) or "&nbsp;"
