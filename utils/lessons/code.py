"""Source code as HTML for a lesson: a whole step, one kernel, or a change between two versions."""

from __future__ import annotations

import ast
import html
import inspect
import io
import sys
import textwrap
import tokenize
from collections.abc import Callable, Iterable
from functools import cache
from types import ModuleType

from IPython.display import HTML
from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, String

from utils.errors import CourseError
from utils.ladder.function_text import plain_function
from utils.ladder.step import Step, Variant
from utils.lessons.counting import as_step
from utils.lessons.edits import difference, source_of
from utils.lessons.folders import read_in_all
from utils.translation import translate
from virtual_gpu.pictures.svg import in_code

SENTENCES = "changes.toml"
FURTHER = 4  # columns by which the second row of a wrapped line is indented

# In a <pre>, so that the code keeps its indentation where a viewer strips the styles.
_STYLE = """<style>
pre.lesson-code.lesson-code {font: 12px/1.45 monospace; margin: 4px 0; color: inherit;
 border: 1px solid rgba(128,128,128,.4); border-radius: 6px; padding: 6px 0;
 background: transparent; white-space: pre-wrap; overflow-wrap: anywhere; word-break: normal}
.lesson-code > span {display: block; padding: 0 10px 0 calc(10px + var(--in, 0ch));
 text-indent: calc(-1 * var(--in, 0ch))}
.lesson-code .added {background: rgba(0,114,178,.18); border-left: 4px solid #0072b2}
.lesson-code .removed {background: rgba(213,94,0,.16); border-left: 4px solid #d55e00}
.lesson-code .skipped {opacity: .6}
.lesson-code > span.why {font: 14px/1.5 system-ui, sans-serif; white-space: normal;
 max-width: 64em; padding: 2px 10px 6px 34px}
.lesson-code .why code {font-size: 13px}
.lesson-code .key {color: var(--jp-mirror-editor-keyword-color, #158a3c); font-weight: 600}
.lesson-code .built {color: var(--jp-mirror-editor-builtin-color, #158a3c)}
.lesson-code .number {color: var(--jp-mirror-editor-number-color, #158a3c)}
.lesson-code .string {color: var(--jp-mirror-editor-string-color, #d14343)}
.lesson-code .note {color: var(--jp-mirror-editor-comment-color, #5b8a8a); font-style: italic}
</style>"""
# The class of the tokens of each kind of Pygments.
_COLOURS = {
    Comment: "note",
    Keyword: "key",
    Name.Builtin: "built",
    Number: "number",
    String: "string",
}
_KINDS = {"+": "added", "-": "removed", "@": "skipped"}


def show_source(step: Step | Variant) -> HTML:
    """Return the whole source file of a step as HTML, including its comments."""
    return _block(source_of(as_step(step).file).rstrip().splitlines(), marked=False)


def show_kernel(shown: Step | Variant | Callable, comments: bool = True, **constants: int) -> HTML:
    """Return a kernel's source code as HTML: without comments, above a fold with the full source.

    The visible code has no comments, docstring or empty lines, because comments may contain the
    answer to a question of the lesson. shown: a kernel, a variant, or a step whose kernel is built
    with `constants`. If a variant is given together with `constants`, the kernel of its step is
    built with these alone. comments: if False, the fold is left out. Raises CourseError if `shown`
    is none of these, or if the step does not offer the constants.
    """
    if isinstance(shown, Variant):
        shown = shown.step if constants else shown.kernel
    kernel = shown.variant(**constants).kernel if isinstance(shown, Step) else shown
    function = inspect.unwrap(plain_function(kernel))  # a cached function is wrapped
    if not inspect.isfunction(function):
        raise CourseError(f"{shown!r} is no kernel and no step, so it has no source code to show.")
    text = textwrap.dedent(inspect.getsource(function)).rstrip()
    bare = [line for line in _without_comments(text) if line.strip()]
    if not comments:
        return HTML(f"{_STYLE}{_coloured_rows(bare)}")
    whole = _coloured_rows(text.splitlines())
    title = translate("The same with its docstring")
    if "# " in text:
        title = translate("The same with its comments, which say what this lesson finds out")
    return HTML(
        f"{_STYLE}{_coloured_rows(bare)}<details><summary>{title}</summary>{whole}</details>"
    )


def show_loop(function: Callable) -> HTML:
    """Return the first `for` loop of a compiled function as HTML, without comments.

    Above the loop are the integer globals that it uses, one per line, such as "TILE = 32".
    function: a function compiled by Numba. This is for a long function of which the lesson
    discusses only the loop.
    """
    text = textwrap.dedent(inspect.getsource(function.py_func))
    loop = next(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.For))
    names = dict.fromkeys(node.id for node in ast.walk(loop) if isinstance(node, ast.Name))
    values = function.py_func.__globals__
    sizes = [f"{name} = {values[name]}" for name in names if isinstance(values.get(name), int)]
    lines = textwrap.dedent("\n".join(_own_lines(loop, _without_comments(text)))).splitlines()
    return _block([*sizes, *(line for line in lines if line.strip())], marked=False)


def show_functions(step: Step) -> HTML:
    """Return a step's constants and device functions as HTML, without comments.

    Raises CourseError for a Variant, and for a reader's kernel, whose device functions are in the
    reader's cells.
    """
    if not isinstance(step, Step):
        raise CourseError(
            "show_functions shows what a step of the course calls, and this is no step: look into "
            "your own cells for what your kernel calls."
        )
    text = kernel_code(step)
    return HTML(_STYLE + _coloured_rows(text[: text.rindex("@cuda.jit")].rstrip().splitlines()))


def show_numbered(module: ModuleType, begin: str, end: str) -> HTML:
    """Return a stretch of a module's source code as HTML, with the number of each line in its file.

    Messages of the virtual GPU name lines by these numbers. begin, end: the stretch goes from the
    first line that contains `begin` to the first line that contains `end`.
    """
    lines = source_of(module).rstrip().splitlines()
    first, last = (next(n for n, line in enumerate(lines) if one in line) for one in (begin, end))
    shown = textwrap.dedent("\n".join(lines[first : last + 1])).splitlines()
    rows = (f"{number}  {line}" for number, line in enumerate(shown, first + 1))
    return _block(rows, marked=False)


def show_change(
    old: Step | Variant,
    new: Step | Variant,
    whole: bool = False,
    folded: bool = False,
    around: int = 0,
    kernel: bool = False,
) -> HTML:
    """Return the diff between the code of two steps as HTML, without comments.

    Each sentence that `changes.toml` in a lesson's folder has for this change is shown below the
    new line that it explains. whole: show all unchanged lines, too, which also happens if there are
    no sentences. around: the number of unchanged lines shown before and after each change in all
    other cases. folded: put the diff into a fold, because a reader may skip it. kernel: compare the
    kernels only, without the constants and device functions before them. Raises CourseError if a
    sentence belongs to no new line.
    """
    old, new = as_step(old), as_step(new)
    left = dict(_sentences().get(f"{old.name} > {new.name}", {}))
    before, after = kernel_code(old), kernel_code(new)
    if kernel:
        before, after = (text[text.rindex("@cuda.jit") :] for text in (before, after))
    # The reader need not see that the name changes.
    names = f"def {old.name}(", f"def {new.name}("
    rows = []
    context = around if left and not whole else 99
    for line in difference(before.replace(*names), after, context)[1:]:
        rows.append(_row(line.replace(*names[::-1]) if line.startswith("-") else line))
        for part in [part for part in left if line.startswith("+") and part in line]:
            rows.append(f'<span class="why">↑ {in_code(translate(left.pop(part)))}\n</span>')
    if left:
        raise CourseError(
            f"No new line of {new.name} holds {next(iter(left))!r}: compare {SENTENCES} with its "
            "file."
        )
    shown = f'<pre class="lesson-code">{"".join(rows)}</pre>'
    if folded:
        title = translate("The whole change")
        shown = f"<details><summary>{title}</summary>{shown}</details>"
    return HTML(_STYLE + shown)


@cache
def _sentences() -> dict[str, dict[str, str]]:
    """Return the sentences of all `changes.toml` files; the result is cached.

    The outer key is "old > new" with the names of two steps. The inner key is a piece of a new
    line, and its value is the sentence that explains this line.
    """
    tables = read_in_all(SENTENCES).values()
    return {change: sentences for table in tables for change, sentences in table.items()}


def show_difference(before: ModuleType, after: ModuleType) -> HTML:
    """Return the diff between the source code of two modules as HTML.

    It shows two unchanged lines around each change. Usually `after` is an edited copy of `before`.
    """
    return _block(difference(source_of(before), source_of(after), context=2))


def kernel_difference(old: Step, new: Step) -> list[str]:
    """Return the lines of the unified diff between the `kernel_code` of two steps.

    A line of code begins with "+", "-" or " ", and the header of a hunk with "@@". Around each
    change there are up to 99 unchanged lines. Without a difference the list is empty.
    """
    return difference(kernel_code(old), kernel_code(new), context=99)


def kernel_code(step: Step) -> str:
    """Return the part of a step's source code that computes: kernel, device functions, constants.

    The text leaves out imports, the functions `launch` and `calls`, the `def` and `return` lines of
    a factory, the Step itself, comments, docstrings and empty lines. If the kernel is defined in
    another file than the step, that file's code comes first.
    """
    modules = dict.fromkeys((step.build.__module__, step.module))
    return "\n".join(_computing_code(source_of(sys.modules[name])) for name in modules)


def _computing_code(text: str) -> str:
    """Return the code of a file's functions, and of the constants that they use, as text.

    The functions `launch` and `calls`, imports, other assignments, comments, docstrings, empty
    lines, and the `def` and `return` lines of a factory are left out. text: the source code of the
    file.
    """
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
    selected = []
    for node in tree:
        if node in functions:
            selected += _at_the_margin(node, lines)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in used:
            selected += lines[node.lineno - 1 : node.end_lineno]
    return "\n".join(line for line in selected if line.strip())


def _at_the_margin(function: ast.FunctionDef, lines: list[str]) -> list[str]:
    """Return the lines of a function; of a factory, only its dedented body without the `return`.

    A factory is a function that defines a function. `lines` are all lines of the file. Leaving out
    the factory makes its kernel comparable with a kernel that has no factory.
    """
    if not any(isinstance(node, ast.FunctionDef) for node in function.body):
        return _own_lines(function, lines)
    inner = [node for node in function.body if not isinstance(node, ast.Return)]
    return [line[4:] for node in inner for line in _own_lines(node, lines)]


def _own_lines(node: ast.stmt, lines: list[str]) -> list[str]:
    """Return the lines of a statement, including its decorators; `lines` are those of the file."""
    decorators = getattr(node, "decorator_list", ())
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return lines[first - 1 : node.end_lineno]


def _without_comments(text: str) -> list[str]:
    """Return the lines of Python code without comments and functions' docstrings.

    The number of lines stays the same: a removed comment line or docstring line is empty.
    """
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
            docstring = node.body[0]
            first, last = docstring.lineno - 1, docstring.end_lineno
            lines[first:last] = [""] * (last - first)
    return lines


def _block(lines: Iterable[str], marked: bool = True) -> HTML:
    """Return lines of code as HTML, with the styles that it needs.

    marked: True for lines of a diff, which are coloured by their first character. The header of its
    first hunk is left out, and "⋯" replaces each further one.
    """
    lines = list(lines)
    if marked and lines[:1] and lines[0].startswith("@@"):
        lines = lines[1:]  # a skip mark above the first part would say nothing
    return HTML(f"{_STYLE}{_rows(lines, marked)}")


def _rows(lines: Iterable[str], marked: bool) -> str:
    """Return a `<pre>` block of these lines of code. marked: True for a diff, which is coloured."""
    return f'<pre class="lesson-code">{"".join(_row(line, marked) for line in lines)}</pre>'


def _coloured_rows(lines: list[str]) -> str:
    """Return a `<pre>` block of these lines of Python code, coloured by the kinds of tokens."""
    inner = [""]
    for kind, value in PythonLexer(stripnl=False, ensurenl=False).get_tokens("\n".join(lines)):
        first, *others = (_token(kind, part) for part in value.split("\n"))
        inner[-1] += first
        inner += others
    indents = [len(line) - len(line.lstrip()) for line in lines]
    rows = "".join(map(_span, indents, inner))
    return f'<pre class="lesson-code">{rows}</pre>'


def _token(kind, text: str) -> str:
    """Return the HTML of a token of Python code: in a span if its type has a colour, else alone.

    kind: the type of the token by Pygments. text: the token, which is escaped.
    """
    colour = next((name for group, name in _COLOURS.items() if kind in group), "")
    plain = html.escape(text)
    return f'<span class="{colour}">{plain}</span>' if colour and text else plain


def _row(line: str, marked: bool = True) -> str:
    """Return the HTML of a line of code; if it is wrapped, its second row is indented further.

    marked: True for a line of a diff, which is coloured if it begins with "+" or "-", and replaced
    by "⋯" if it begins with "@".
    """
    kind = _KINDS.get(line[:1], "") if marked else ""
    text = "⋯" if kind == "skipped" else line
    inner = text[1:] if marked else text
    return _span(len(text) - len(inner.lstrip()), html.escape(text), kind)


def _span(indent: int, inner: str, kind: str = "") -> str:
    """Return the HTML of a line of code as a span whose class is `kind`, "" for none.

    indent: the columns before its code. inner: the HTML of the code.
    """
    return f'<span style="--in: {indent + FURTHER}ch" class="{kind}">{inner}\n</span>'
