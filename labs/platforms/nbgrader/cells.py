"""The cells that nbgrader knows by name: a function to write, and the points for it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from labs.grading import feedback
from labs.grading.grade import Graded
from labs.grading.handout import notebook
from labs.grading.labs import Lab, Part

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
HAND_IN = "Hand in this notebook, under its own name."
# Where this course is graded without its configuration, nbgrader runs this cell. What it writes on
# standard error then means no points; without it every student would get all of them.
_POINTS = """import sys

print("{points} points, given by the grader for the text of `{name}`.", file=sys.stderr)"""


def source(lab: Lab) -> nbformat.NotebookNode:
    """The handout as nbgrader's master: starters to be written, and below each its points.

    It holds no solution and no hidden shape, so there is none that could be released.
    """
    made = notebook(lab, HAND_IN)
    tags = [cell.metadata.get("tags", ()) for cell in made.cells]
    starters = [place for place, own in enumerate(tags) if "your-turn" in own]
    for place, part in reversed(list(zip(starters, lab.parts, strict=True))):
        made.cells[place].metadata.nbgrader = _of_solution(part)
        made.cells.insert(place + 2, points_cell(part))  # below the cell that calls `check`
    return made


def points_cell(part: Part) -> nbformat.NotebookNode:
    """The locked cell that carries the points of a part."""
    text = _POINTS.format(points=part.points, name=part.exercise)
    name = f"{part.exercise}-points"
    own = _metadata(name, grade=True, locked=True, points=part.points)
    return new_code_cell(text, id=name[-64:], metadata={"nbgrader": own})


def _of_solution(part: Part) -> dict:
    return _metadata(part.exercise, solution=True)


def _metadata(name: str, **own: object) -> dict:
    usual = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False}
    return {**usual, "grade_id": name, **own}


def graded_notebook(lab: Lab, pieces: Sequence[str], found: Graded) -> nbformat.NotebookNode:
    """What was graded: the code of a submission, and below each task's function its points.

    pieces: the code cells, as they were read. Prose is left out, since a browser would run the
    scripts in it. A task whose function is nowhere stands at the end.
    """
    cells, waiting = [new_markdown_cell(f"# {lab.title}")], list(lab.parts)
    ours = {points_cell(part).source for part in lab.parts}
    for text in [one for one in pieces if one.strip() and one not in ours]:
        cell = new_code_cell(text)
        cells.append(cell)
        for part in [one for one in waiting if _defines(one.exercise, text)]:
            cell.metadata.setdefault("nbgrader", _of_solution(part))
            cells.append(_given(part, found))
            waiting.remove(part)
    cells += [_given(part, found) for part in waiting]
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    return new_notebook(cells=cells, metadata={"kernelspec": KERNEL})


def _defines(name: str, text: str) -> bool:
    return re.search(rf"^def {name}\b", text, re.MULTILINE) is not None


def _given(part: Part, found: Graded) -> nbformat.NotebookNode:
    """The cell of points, with the points as nbgrader reads them and the reasons as students do."""
    points = sum(row.points for row in found.rows if row.part == part.exercise)
    said = {"text/plain": repr(points / 100), "text/html": feedback.part_as_html(part, found)}
    cell = points_cell(part)
    cell.outputs = [new_output("execute_result", said, execution_count=1)]
    return cell
