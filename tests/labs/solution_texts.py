"""Find a function of a solution in other files, whatever its comments and its names."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat

from labs import EXERCISES
from labs.checking.variants import right_versions

_BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
LEAST = 12  # nodes of a function's body; shorter ones, such as `pass`, are no solution
_SPACE = re.compile(r"\s+")


def functions_in(text: str) -> Iterator[ast.FunctionDef]:
    """Yield the functions of a text with at least LEAST nodes; none if Python cannot read it."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and len(list(ast.walk(node))) >= LEAST:
            yield node


def normal(function: ast.FunctionDef) -> str:
    """Return a function's syntax tree as text, with names numbered and without its docstring."""
    numbers: dict[str, str] = {}
    body = function.body
    first = body[0].value if isinstance(body[0], ast.Expr) else None
    if isinstance(first, ast.Constant):
        body = body[1:]
    dump = "\n".join(ast.dump(one) for one in (function.args, *body))
    return re.sub(
        r"(?:id|arg)='(\w+)'",
        lambda name: numbers.setdefault(name[1], str(len(numbers))),
        re.sub(r"(?:annotation|returns)=\w+\([^()]*\)", "", dump),
    )


def plain(function: ast.FunctionDef) -> str:
    """Return a function's text without comments and white space, for a search in any text."""
    return _SPACE.sub("", "".join(map(ast.unparse, function.body)))


def right_functions() -> dict[str, list[ast.FunctionDef]]:
    """Return the task's function in each exercise's solution and in its other right versions."""
    starters = {
        name: {normal(one) for one in functions_in(exercise.starter_text)}
        for name, exercise in EXERCISES.items()
    }
    found = {}
    for name, exercise in EXERCISES.items():
        texts = [exercise.solution_text, *(text for _, text in right_versions(exercise))]
        every = [one for text in texts for one in functions_in(text) if one.name == name]
        found[name] = [one for one in every if normal(one) not in starters[name]]
    return found


def code_in(file: Path) -> list[str]:
    """Return the Python texts of a file: the file, a notebook's cells, blocks in Markdown."""
    if file.suffix not in (".py", ".ipynb", ".md"):
        return []
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".ipynb":
        cells = nbformat.reads(text, as_version=4).cells
        return [cell.source for cell in cells if cell.cell_type == "code"] + [
            code for cell in cells for code in _BLOCK.findall(cell.source)
        ]
    return [text] if file.suffix == ".py" else _BLOCK.findall(text)
