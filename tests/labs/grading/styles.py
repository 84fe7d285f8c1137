"""Ways to spell the same submission: names, layout, imports, decorators, constants and encodings.

A style takes the text of a right file and returns another text, which does the same. A file that
it cannot respell, for example because it has no constant, stays as it is.
"""

from __future__ import annotations

import ast
import itertools
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping

from labs.grading.equivalents import (
    commuted,
    mirrored,
    negated,
    parameters_renamed,
    renamed,
    returned_by_name,
    spread,
    written_out,
)

_SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr)


# What Numba compiles also without `cuda.`. It cannot type `threadIdx` or `shared` by themselves.
TYPED = {"jit", "grid", "gridsize", "syncthreads", "shfl_down_sync", "shfl_xor_sync", "shfl_sync"}


def of_rule(rule: Callable[[ast.Module], ast.Module | None]) -> Callable[[str], str]:
    """Return a style from a rule of `labs.grading.equivalents`."""

    def style(text: str) -> str:
        changed = rule(ast.parse(text))
        return text if changed is None else unparsed(changed)

    return style


def unparsed(tree: ast.AST) -> str:
    """Return the text of a syntax tree, with a newline at its end."""
    return f"{ast.unparse(ast.fix_missing_locations(tree))}\n"


def layout(change: Callable[[str], str]) -> Callable[[str], str]:
    """Return a style that changes each line of a text without docstrings and comments."""

    def style(text: str) -> str:
        lines = unparsed(_without_docstrings(ast.parse(text))).splitlines()
        return "".join(f"{change(line)}\n" for line in lines)

    return style


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in (tree, *_functions(tree)):
        first = node.body[0] if node.body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def _functions(tree: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)]


def _indented(unit: str) -> Callable[[str], str]:
    def change(line: str) -> str:
        inner = line.lstrip(" ")
        return unit * ((len(line) - len(inner)) // 4) + inner

    return change


def joined_by_semicolons(text: str) -> str:
    """Write simple statements that follow each other on one line."""
    tree = _without_docstrings(ast.parse(text))
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


def _as_power(value: int) -> str:
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


def _with_underscores(value: int) -> str:
    return f"{str(value)[:1]}_{str(value)[1:]}" if value >= 10 else str(value)


def lambdas(text: str) -> str:
    """Write a function of one `return`, without a decorator, as a lambda."""
    tree = _without_docstrings(ast.parse(text))
    for number, node in enumerate(tree.body):
        if isinstance(node, ast.FunctionDef) and not node.decorator_list:
            (first, *others) = node.body
            if isinstance(first, ast.Return) and not others:
                target = ast.Name(node.name, ast.Store())
                function = ast.Lambda(node.args, first.value)
                tree.body[number] = ast.Assign([target], function, lineno=1)
    return unparsed(tree)


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
        for node in _functions(tree):
            node.body = [Written().visit(one) for one in node.body]
        return unparsed(tree)

    return style


def _over_lines(text: str) -> str:
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
    for function in _functions(tree):
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
    tree = _without_docstrings(ast.parse(text))
    for function in _functions(tree):
        function.body.insert(0, ast.Expr(ast.Name(DOCSTRING, ast.Load())))
    return unparsed(tree)


def annotations(text: str) -> str:
    """Annotate all parameters and results, partly by texts."""
    tree = ast.parse(text)
    for function in _functions(tree):
        for number, one in enumerate(function.args.args):
            one.annotation = [ast.Constant("float32[:]"), ast.Name("float", ast.Load())][number % 2]
        function.returns = ast.Constant("None")
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


def with_comments(text: str) -> str:
    """Put comments that look like code on and between all lines."""
    lines = layout(lambda line: f"{line}  # def f(x): {{'a': f\"{{open('x')}}\"}} \\")(text)
    return "# 'a text that does not end, (\n#!pip install numba\n" + lines


def with_form_feeds(text: str) -> str:
    """Put a form feed before each function, and signs that some editors take for line ends."""
    return re.sub(r"^(@|def )", "\f\n# a\u2028b\x1cc\x85d\n\\1", text, count=1, flags=re.MULTILINE)


def debris(text: str) -> str:
    """Put the usual further code of a script around the functions."""
    return f"{ABOVE}{text}{BELOW}"


ABOVE = textwrap.dedent(
    '''\
    """My work for this lab."""
    import os, sys
    from pathlib import Path

    import numpy as np

    FOLDER = Path(".")
    rng = np.random.default_rng(1)
    try:
        import no_such_module
    except ImportError:
        no_such_module = None


    class Timer:
        """Measures nothing."""

        def __enter__(self):
            return self

        def __exit__(self, *others):
            return False


    '''
)
BELOW = textwrap.dedent(
    """

    def plot(values, *others, title="Result", **options):
        return sorted(values, key=lambda one: -one)


    with Timer() as timer:
        print("timed", [x for x in range(3)], file=sys.stderr)

    if __name__ == "__main__":
        raise SystemExit(plot([1, 2, 3]))
    """
)


STYLES: Mapping[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "variables renamed": of_rule(renamed),
    "parameters renamed": of_rule(parameters_renamed),
    "x += y written out": of_rule(written_out),
    "factors exchanged": of_rule(commuted),
    "comparisons mirrored": of_rule(mirrored),
    "comparisons negated": of_rule(negated),
    "a string and an unused variable": of_rule(spread),
    "the returned value named": of_rule(returned_by_name),
    "names in German": lambda text: of_rule(renamed)(text).replace("my_", "größe_"),
    "comments everywhere": with_comments,
    "blank lines everywhere": layout(lambda line: f"{line}\n\n   "),
    "tabs": layout(_indented("\t")),
    "two blanks": layout(_indented("  ")),
    "blanks at line ends": layout(lambda line: f"{line} \t "),
    "semicolons": joined_by_semicolons,
    "parentheses": values_written(lambda value: f"(({value}))"),
    "values over several lines": values_written(_over_lines),
    "backslashes": values_written(lambda value: f"\\\n            {value}"),
    "temporaries": temporaries,
    "docstrings": docstrings,
    "annotations": annotations,
    "form feeds": with_form_feeds,
    "no newline at the end": lambda text: text.rstrip(),
    "hexadecimal numbers": whole_numbers_written(hex),
    "numbers with underscores": whole_numbers_written(_with_underscores),
    "cuda as gpu": imported_as("cuda", "from numba import cuda as gpu", "gpu"),
    "numba.cuda as nc": imported_as("cuda", "import numba.cuda as nc", "nc"),
    "numba.cuda in full": imported_as("cuda", "import numba\nimport numba.cuda", "numba.cuda"),
    "numba as nb": imported_as("cuda", "import numba as nb", "nb.cuda"),
    "names of cuda one by one": names_one_by_one,
    "nb.float32": imported_as("float32", "import numba as nb", "nb.float32"),
    "np.float32": imported_as("float32", "import numpy as np", "np.float32"),
    "types.float32": imported_as("float32", "from numba import types", "types.float32"),
    "f4": imported_as("float32", "from numba import float32 as f4", "f4"),
    "numpy in full": imported_as("np", "import numpy", "numpy"),
    "math as m": imported_as("math", "import math as m", "m"),
    "compiled by a call": compiled_by_a_call,
    "a decorator with a name": decorated_by_a_name,
    "constants as powers": constants_written(_as_power),
    "constants by max": constants_written(lambda value: f"max({value}, min(0, {value}))"),
    "conditional constants": constants_written(
        lambda value: f"{value} if LARGE and not 0 else {value + 1}", "LARGE = 3 > 2\n"
    ),
    "annotated constants": constants_annotated,
    "unpacked constants": constants_unpacked,
    "constants that are doubled": constants_changed_before,
    "constants below": constants_below,
    "lambdas": lambdas,
    "helpers": helpers,
    "inner helpers": inner_helpers,
    "a script's debris": debris,
}
ENCODINGS: Mapping[str, Callable[[str], bytes]] = {
    "UTF-8": str.encode,
    "Windows": lambda text: b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(),
    "an old Macintosh": lambda text: text.replace("\n", "\r").encode(),
}


def cells_of(text: str) -> Iterator[str]:
    """Yield the cells into which a text is split: a cell per function, and what is between them.

    The line breaks at the end of a cell are left out, as Jupyter does.
    """
    lines, start = text.split("\n"), 0
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)]) - 1
            yield "\n".join(lines[start:first]).rstrip("\n")
            yield "\n".join(lines[first : node.end_lineno]).rstrip("\n")
            start = node.end_lineno
    yield "\n".join(lines[start:]).rstrip("\n")
