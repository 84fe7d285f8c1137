"""The cells that nbgrader recognises by name: a function to write, and the points for it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from labs.grading import feedback
from labs.grading.grade import Mark
from labs.grading.handout import notebook
from labs.grading.labs import Lab, Part

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
HAND_IN = "Hand in this notebook, under its own name."
# If this course is graded without its configuration, nbgrader runs this cell. Its output on
# standard error then means no points; without that, every student would get all points.
_POINTS = """import sys

print("{points} points, given by the grader for the text of `{name}`.", file=sys.stderr)"""


def source(lab: Lab) -> nbformat.NotebookNode:
    """Return nbgrader's master notebook of a lab: the handout, with a cell of points per task.

    It has no solution and no hidden shape, so none can be released by mistake.
    """
    master = notebook(lab, HAND_IN)
    tags = [cell.metadata.get("tags", ()) for cell in master.cells]
    starters = [position for position, own in enumerate(tags) if "your-turn" in own]
    for position, part in reversed(list(zip(starters, lab.parts, strict=True))):
        master.cells[position].metadata.nbgrader = _solution_metadata(part)
        master.cells.insert(position + 2, points_cell(part))  # below the cell that calls `check`
    return master


def points_cell(part: Part) -> nbformat.NotebookNode:
    """Return the locked code cell to which nbgrader assigns the points of a part."""
    text = _POINTS.format(points=part.points, name=part.exercise)
    name = f"{part.exercise}-points"
    own = _metadata(name, grade=True, locked=True, points=part.points)
    return new_code_cell(text, id=name[-64:], metadata={"nbgrader": own})


def _solution_metadata(part: Part) -> dict:
    """Return nbgrader's metadata for the cell with the student's function.

    It is a dict as `_metadata` returns it, in which "solution" is True.
    """
    return _metadata(part.exercise, solution=True)


def _metadata(name: str, **own: object) -> dict:
    """Return nbgrader's metadata of a cell as a dict.

    name: the cell's identifier. own: the fields that differ from those of a plain cell.
    """
    usual = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False}
    return {**usual, "grade_id": name, **own}


def graded_notebook(lab: Lab, pieces: Sequence[str], mark: Mark) -> nbformat.NotebookNode:
    """Return a notebook with a submission's code, and the points below each task's function.

    pieces: the code cells, as they were read. Text cells are left out, because a browser would run
    the scripts in them. If several cells define a function, the points are below the first. The
    points of a task whose function is missing are at the end.
    """
    cells, missing = [new_markdown_cell(f"# {lab.title}")], list(lab.parts)
    locked = {points_cell(part).source for part in lab.parts}
    for text in [one for one in pieces if one.strip() and one not in locked]:
        cell = new_code_cell(text)
        cells.append(cell)
        for part in [one for one in missing if _defines(one.exercise, text)]:
            cell.metadata.setdefault("nbgrader", _solution_metadata(part))
            cells.append(_cell_with_points(part, mark))
            missing.remove(part)
    cells += [_cell_with_points(part, mark) for part in missing]
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    return new_notebook(cells=cells, metadata={"kernelspec": KERNEL})


def _defines(name: str, text: str) -> bool:
    """Return True if a cell defines the function `name`, or assigns a list or tuple to it."""
    return re.search(rf"^(def {name}\b|{name} = [\[(])", text, re.MULTILINE) is not None


def _cell_with_points(part: Part, mark: Mark) -> nbformat.NotebookNode:
    """Return a part's cell of points, with the points and the reasons as its output.

    nbgrader reads the points as text, and the student sees the reasons as HTML.
    """
    points = sum(row.points for row in mark.rows if row.part == part.exercise)
    output = {"text/plain": repr(float(points)), "text/html": feedback.part_as_html(part, mark)}
    cell = points_cell(part)
    cell.outputs = [new_output("execute_result", output, execution_count=1)]
    return cell
