"""Remove the answers to exercises and the course's solutions from lessons."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import nbformat

# The answer of an exercise, as `tools.guide_pages` finds it, and any text that folds out.
_ANSWER = re.compile(
    r"<details><summary>(?:Solution|Answer)[^<]*</summary>.*?</details>\n*", re.DOTALL
)
_FOLDED = re.compile(r"<details>.*?</details>\n*", re.DOTALL)
# Sentences about answers and solutions, which are not true in the copy.
_SENTENCES = re.compile(r" ?\(?A solution stands in `[^`]+`\.\)?| ?The answers fold out\.")
# What a cell takes in place of a kernel that the reader has not written yet.
_OTHERWISE = re.compile(r", otherwise=EXERCISES\[\"\w+\"\]\.solution")
WITHOUT = "# This cell shows the course's solution, which this copy of the course does not have."


def without_answers(text: str, translated: bool = False) -> str:
    """Return the text of a lesson's notebook without answers and without cells that show solutions.

    A cell that needs a solution becomes a comment and keeps its other imports. text: the notebook
    file. translated: True for a lesson in another language, in which all folded texts are removed.
    """
    notebook = nbformat.reads(text, as_version=4)
    folded, names = _FOLDED if translated else _ANSWER, set()
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = _SENTENCES.sub("", folded.sub("", cell.source)).strip()
        elif cell.cell_type == "code":
            cell.source, replaced = _OTHERWISE.subn("", cell.source)
            if replaced:  # says in one sentence what is missing, and the cells after it run
                cell.metadata.setdefault("tags", []).append("raises-exception")
            cell.source = _without_solution(cell.source, names)
    notebook.cells = [cell for cell in notebook.cells if cell.source]
    return nbformat.writes(notebook) + "\n"


def _without_solution(source: str, names: set[str]) -> str:
    """Return a cell's source or, if it needs a solution, its other imports and a comment.

    A cell that is not valid Python is returned unchanged. names: the names that earlier cells
    import from solutions; those of this cell are added.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a cell with lines of IPython
        return source
    own = {name for node in tree.body if _is_of_solution(node) for name in _names(node)}
    names |= own
    if not own and not any(_needs_solution(node, names) for node in ast.walk(tree)):
        return source
    kept = [
        ast.unparse(node)
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom) and not _is_of_solution(node)
    ]
    return "\n".join((*kept, WITHOUT))


def _is_of_solution(node: ast.AST) -> bool:
    """Return True if a node imports a solution, as in `from labs.exercises.dot import solution`."""
    if not isinstance(node, ast.ImportFrom):
        return False
    path = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
    return path[:2] == ["labs", "exercises"] and "solution" in path


def _names(node: ast.ImportFrom) -> Iterator[str]:
    """Yield the names that an import defines: of `a as b` it is `b`."""
    return (alias.asname or alias.name for alias in node.names)


def _needs_solution(node: ast.AST, names: set[str]) -> bool:
    """Return True if a node is an attribute `solution`, or one of these names."""
    is_attribute = isinstance(node, ast.Attribute) and node.attr == "solution"
    return is_attribute or (isinstance(node, ast.Name) and node.id in names)
