"""Spellings that the grader accepts or refuses with a clear sentence, and poor attempts."""

from dataclasses import replace

import pytest

from labs.checking.variants import changed
from labs.exercises import find as exercise
from labs.grading.grade import grade
from labs.grading.labs import LABS
from labs.grading.marks import AS_THE_STARTER
from labs.grading.submissions import Submission

SECRET = "a secret of sixteen characters"
SCALE = """@cuda.jit
def scale(x, factor, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * factor
"""
IMPORT = "from numba import cuda\n"


def marked(lab: str, part: str, text: str):
    """Return the mark of a text for one part of a lab, for 100 points."""
    parts = [replace(one, points=100) for one in LABS[lab].parts if one.exercise == part]
    submission = Submission("student", (("work.py", text.encode()),))
    return grade(replace(LABS[lab], parts=tuple(parts)), submission, SECRET)


@pytest.mark.parametrize(
    "text",
    [
        "from numba.cuda import *\n" + SCALE.replace("cuda.", ""),
        IMPORT + "times = cuda.jit(device=True)(lambda a, b: a * b)\n"
        + SCALE.replace("x[i] * factor", "times(x[i], factor)"),
    ],
)  # fmt: skip
def test_these_spellings_are_accepted(text):
    assert marked("first_kernel", "scale", text).points == 100


@pytest.mark.parametrize(
    "old, new, why",
    [
        ("out):", "out, /):", "`scale` has defaults, `*`, `**` or `/`"),
        ("i = cuda.grid(1)\n    if i <", "if (i := cuda.grid(1)) <", "`(i := cuda.grid(1))`"),
    ],
)
def test_others_are_refused_with_their_line(old, new, why):
    mark = marked("first_kernel", "scale", IMPORT + SCALE.replace(old, new))
    assert mark.points == 0
    assert why in mark.rows[0].told
    assert mark.rows[0].told.startswith("Line ")


def test_a_name_of_an_inner_scope_is_not_defined_outside_of_it():
    text = "def wavefronts(stride):\n    f = lambda other: 0\n    return other\n"
    mark = marked("sheffield_lab06", "wavefronts", text)
    assert "the name `other` is not defined" in mark.rows[0].told


def test_an_attempt_gets_no_fewer_points_than_the_starter_that_it_was_made_of():
    tree = exercise("tree")
    starter = marked("reduce_0_to_3", "tree", tree.starter_text)
    races = marked("reduce_0_to_3", "tree", changed(tree, [("        cuda.syncthreads()\n", "")]))
    assert 0 < starter.points <= races.points
    assert AS_THE_STARTER in races.rows[0].told
