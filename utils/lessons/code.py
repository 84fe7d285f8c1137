"""Code in a lesson: a whole step, what a step changes, what an edit changes."""

from __future__ import annotations

import ast
import html
import inspect
import io
import sys
import textwrap
import tokenize
import tomllib
from collections.abc import Callable, Iterable
from functools import cache
from types import ModuleType

from IPython.display import HTML

from utils.errors import CourseError
from utils.ladder.step import Step
from utils.lessons.edits import difference, source_of
from utils.paths import DATA
from virtual_gpu.pictures.svg import in_code

SENTENCES = DATA / "changes.toml"

# In a <pre>, so that the code keeps its indentation where styles are taken away.
_STYLE = """<style>
pre.lesson-code.lesson-code {font: 12px/1.45 monospace; overflow-x: auto; margin: 4px 0;
 border: 1px solid rgba(128,128,128,.4); border-radius: 6px; padding: 6px 0; color: inherit;
 background: transparent; white-space: pre; word-break: normal}
.lesson-code > span {display: block; box-sizing: border-box; padding: 0 10px; width: max-content;
 min-width: 100%}
.lesson-code .added {background: rgba(0,114,178,.18); border-left: 4px solid #0072b2}
.lesson-code .removed {background: rgba(213,94,0,.16); border-left: 4px solid #d55e00}
.lesson-code .skipped {opacity: .6}
.lesson-code > span.why {font: 14px/1.5 system-ui, sans-serif; white-space: normal; width: auto;
 min-width: 0; max-width: 46em; padding: 2px 10px 6px 34px}
.lesson-code .why code {font-size: 13px}
</style>"""
_KINDS = {"+": "added", "-": "removed", "@": "skipped"}


def show_source(step: Step) -> HTML:
    """The whole file of a step."""
    return _block(source_of(step.file).rstrip().splitlines(), marked=False)


def show_kernel(shown: Step | Callable, comments: bool = True, **constants: int) -> HTML:
    """A kernel as it stands in its file, without comments; those fold out below it.

    A comment may hold what a lesson is about to ask. comments: whether they can be folded out.
    shown: a kernel, or a step with constants of its factory.
    """
    kernel = shown.variant(**constants).kernel if isinstance(shown, Step) else shown
    function = kernel.py_func
    text = textwrap.dedent(inspect.getsource(function)).rstrip()
    bare = [line for line in _without_comments(text) if line.strip()]
    if not comments:
        return HTML(f"{_STYLE}{_rows(bare, marked=False)}")
    whole = _rows(text.splitlines(), marked=False)
    has = "comments, which say what this lesson finds out" if "# " in text else "docstring"
    return HTML(
        f"{_STYLE}{_rows(bare, marked=False)}<details><summary>The same with its {has}</summary>"
        f"{whole}</details>"
    )


def show_loop(function: Callable) -> HTML:
    """The first loop of a function, without comments, below the whole numbers that it uses.

    For a function that is long around one loop which a lesson is about.
    """
    text = textwrap.dedent(inspect.getsource(function.py_func))
    loop = next(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.For))
    names = dict.fromkeys(node.id for node in ast.walk(loop) if isinstance(node, ast.Name))
    known = function.py_func.__globals__
    sizes = [f"{name} = {known[name]}" for name in names if isinstance(known.get(name), int)]
    lines = textwrap.dedent("\n".join(_own_lines(loop, _without_comments(text)))).splitlines()
    return _block([*sizes, *(line for line in lines if line.strip())], marked=False)


def show_change(
    old: Step, new: Step, whole: bool = False, folded: bool = False, around: int = 0
) -> HTML:
    """The lines of code that differ between two steps, comments left out.

    The sentences that `data/changes.toml` has for this change stand below their lines; where it has
    none, or with `whole`, the lines between are shown as well. folded: a change that a reader may
    leave out. around: how many unchanged lines stand before and behind each part.
    """
    left = dict(_sentences().get(f"{old.name} > {new.name}", {}))
    # The name is no change that a reader needs to see.
    before = kernel_code(old).replace(f"def {old.name}(", f"def {new.name}(")
    rows = []
    context = around if left and not whole else 99
    for line in difference(before, kernel_code(new), context)[1:]:
        rows.append(_row(line))
        for part in [part for part in left if line.startswith("+") and part in line]:
            rows.append(f'<span class="why">↑ {in_code(left.pop(part))}\n</span>')
    if left:
        raise CourseError(
            f"No new line of {new.name} holds {next(iter(left))!r}: compare {SENTENCES.name} with "
            "its file."
        )
    shown = f'<pre class="lesson-code">{"".join(rows)}</pre>'
    if folded:
        shown = f"<details><summary>The whole change</summary>{shown}</details>"
    return HTML(_STYLE + shown)


@cache
def _sentences() -> dict[str, dict[str, str]]:
    return tomllib.loads(SENTENCES.read_text(encoding="utf-8"))


def show_difference(before: ModuleType, after: ModuleType) -> HTML:
    """The difference between two kernel files, one of them edited."""
    return _block(difference(source_of(before), source_of(after), context=2))


def kernel_difference(old: Step, new: Step) -> list[str]:
    """The lines of a diff between the code of two steps, each with + or - or a space before."""
    return difference(kernel_code(old), kernel_code(new), context=99)


def kernel_code(step: Step) -> str:
    """What computes in the file of a step: its kernel, device functions and constants.

    Imports, the launch with its constants, the frame of a factory and the record of the step are
    left out; so are comments, docstrings and empty lines, which in a diff would hide the code. A
    step with the kernel of another file has that file's code, and its own behind it.
    """
    homes = dict.fromkeys((step.build.__module__, step.module))
    return "\n".join(_what_computes(source_of(sys.modules[home])) for home in homes)


def _what_computes(text: str) -> str:
    lines = _without_comments(text)
    tree = ast.parse(text).body
    functions = [
        node
        for node in tree
        if isinstance(node, ast.FunctionDef) and node.name not in ("launch", "calls")
    ]
    used = {
        node.id
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Name)
    }
    kept = []
    for node in tree:
        if node in functions:
            kept += _at_the_margin(node, lines)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in used:
            kept += lines[node.lineno - 1 : node.end_lineno]
    return "\n".join(line for line in kept if line.strip())


def _at_the_margin(function: ast.FunctionDef, lines: list[str]) -> list[str]:
    """The lines of a function; of a factory those that it makes a kernel of, without its frame.

    So a kernel that a factory makes can be compared with one that needs none.
    """
    if not any(isinstance(node, ast.FunctionDef) for node in function.body):
        return _own_lines(function, lines)
    inner = [node for node in function.body if not isinstance(node, ast.Return)]
    return [line[4:] for node in inner for line in _own_lines(node, lines)]


def _own_lines(node: ast.stmt, lines: list[str]) -> list[str]:
    """The lines of a statement, with its decorators."""
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
    return lines[first - 1 : node.end_lineno]


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
    return HTML(f"{_STYLE}{_rows(lines, marked)}")


def _rows(lines: Iterable[str], marked: bool) -> str:
    return f'<pre class="lesson-code">{"".join(_row(line, marked) for line in lines)}</pre>'


def _row(line: str, marked: bool = True) -> str:
    kind = _KINDS.get(line[:1], "") if marked else ""
    text = "⋯" if kind == "skipped" else line
    return f'<span class="{kind}">{html.escape(text)}\n</span>'
