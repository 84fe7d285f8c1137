"""Marks are near those of an instructor who graded the same submissions by hand.

`instructor/table.csv` has a row for each judgement: the file, the lab, the parts that the file
changes, the points that were judged (of a part or of the whole lab), the instructor's points, and
those that the grader gave before it had the rows of today.
"""

import ast
import csv
from dataclasses import replace
from pathlib import Path

import pytest

from labs.grading.grade import grade
from labs.grading.labs import find
from labs.grading.submissions import Submission
from utils.paths import ROOT

SECRET = "a secret of sixteen characters"
FOLDER = Path(__file__).with_name("instructor")
NEAR = 8  # points of a lab with 100


def judgements() -> list[dict]:
    with (FOLDER / "table.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def handed_in(text: str, lab) -> str:
    """Return a text and the solutions of a lab, without the functions that the text has."""
    tree = ast.parse(text)
    for part in lab.parts:
        known = {name for node in tree.body for name in _names(node)}
        body = ast.parse(part.definition.solution_text).body
        tree.body += [node for node in body if not known.intersection(_names(node))]
    return ast.unparse(tree)


def _names(node: ast.stmt) -> list[str]:
    """Return the name of a function or constant that a statement defines."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    own = [node.name] if isinstance(node, ast.FunctionDef) else []
    return own + [one.id for one in targets if isinstance(one, ast.Name)]


def points(judgement: dict) -> int:
    """Return the points of the judged parts; all other parts of the lab are right."""
    whole = find(judgement["lab"])
    names = judgement["parts"].split()
    lab = replace(whole, parts=tuple(one for one in whole.parts if one.exercise in names))
    text = (FOLDER / f"{judgement['file']}.py").read_text(encoding="utf-8")
    mark = grade(lab, Submission("student", (("work.py", handed_in(text, lab).encode()),)), SECRET)
    return mark.points + int(judgement["of"]) - mark.of


@pytest.mark.parametrize("judgement", judgements(), ids=lambda one: f"{one['lab']}-{one['file']}")
def test_a_mark_is_near_the_instructors(judgement, request):
    if find(judgement["lab"]).needs_sandbox:
        request.getfixturevalue("sandbox")
    given = points(judgement)
    assert abs(given - int(judgement["instructor"])) <= NEAR
    assert find(judgement["lab"]).points == 100


# The percent of a part that `labs/GUIDE.md` gives as examples, by the row there.
EXAMPLES = {
    "right, with tiles, but the lanes of a warp go along columns": "exchanged",
    "no test at any edge, so it goes out of bounds": "no_edges",
    "right, but without tiles": "naive",
    "with tiles, but without barriers": "no_barrier",
}
TILING = find("tiling").parts[0].definition.solution_text
TREE = find("reduce_0_to_3").parts[0].definition.solution_text
NO_TILES = 24  # percent of a part for a right product without tiles
TOTAL = "    total = float32(0)\n"
# Changes of a solution: the lines before and after, and the percent of the part that they deserve.
CHANGED = {
    "the last row is left out": (
        TILING, "    if row < m and col < n:", "    if row < m - 1 and col < n:", NO_TILES + 1, 90,
    ),
    "wrong where k is no multiple of the tile": (
        TILING, "start + tx < k", "start + tx < k - k % TILE", NO_TILES + 1, 90,
    ),
    "returns unless all sizes divide": (
        TILING, TOTAL, f"{TOTAL}    if m % TILE + n % TILE + k % TILE:\n        return\n", 1, 40,
    ),
    "only the first shape": (TILING, TOTAL, f"{TOTAL}    if m != 32:\n        return\n", 0, 40),
    "a sixteenth of the rows": (
        TILING, "    if row < m and col < n:", "    if row < m and col < n and ty == 0:", 0, 10,
    ),
    "one barrier is missing": (
        TILING, "        cuda.syncthreads()  # nobody needs them any more\n", "", 0, 60,
    ),
    "no barrier in a tree": (
        TREE, "        cuda.syncthreads()\n        stride", "        stride", 0, 40,
    ),
    "no test at the end of x": (TREE, "x[i] if i < x.size else float32(0)", "x[i]", 0, 40),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGED)
def test_a_slip_costs_less_than_no_tiles_and_a_race_or_a_trick_costs_most(what):
    text, before, after, least, most = CHANGED[what]
    assert text.count(before) == 1
    lab = find("tiling" if text is TILING else "reduce_0_to_3")
    lab = replace(lab, parts=(replace(lab.parts[0], points=100),))
    raw = text.replace(before, after).encode()
    assert least <= grade(lab, Submission("student", (("work.py", raw),)), SECRET).points <= most


@pytest.mark.parametrize("row", EXAMPLES)
def test_the_examples_of_the_guide_are_what_the_grader_gives(row):
    guide = (ROOT / "labs" / "GUIDE.md").read_text(encoding="utf-8")
    lab = find("tiling")
    lab = replace(lab, parts=(replace(lab.parts[0], points=100),))
    raw = (FOLDER / f"{EXAMPLES[row]}.py").read_bytes()
    mark = grade(lab, Submission("student", (("work.py", raw),)), SECRET)
    assert f"| {row} | {mark.points} |\n" in guide
