"""Tests that a starter is the beginning of the solution, or differs in known lines only."""

import difflib
import re

import pytest

from labs import EXERCISES

# The comment that says where the reader's lines belong.
GAP = re.compile(r"^ +# (?:About|Here:|.*Your lines|.*Change them).*$", re.MULTILINE)
CHANGED_BEFORE = {"double_buffer"}  # arrays of the starter have another size


def code(text: str) -> str:
    """Return the text of a file without its docstring."""
    return text.split('"""', 2)[2]


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, one in EXERCISES.items()
        if GAP.search(code(one.starter_text)) and name not in CHANGED_BEFORE
    ],
)
def test_lines_up_to_the_gap_stand_in_the_solution(name):
    lines_before = GAP.split(code(EXERCISES[name].starter_text))[0].splitlines()
    solution = code(EXERCISES[name].solution_text).splitlines()
    assert [line for line in lines_before if line not in solution] == []


@pytest.mark.parametrize(
    "name, differences",
    [
        ("coalescing", ["-    row, col = x, y", "+    row, col = y, x"]),
        (
            "conflict_free",
            [
                "+PADDED = 33",
                "-    tile_b = cuda.shared.array((SIDE, SIDE), float32)",
                "+    tile_b = cuda.shared.array((SIDE, PADDED), float32)",
            ],
        ),
    ],
)
def test_a_kernel_to_repair_differs_in_these_lines_alone(name, differences):
    texts = EXERCISES[name].starter_text, EXERCISES[name].solution_text
    lines = difflib.unified_diff(*(code(text).splitlines() for text in texts), n=0, lineterm="")
    assert [line.partition("  #")[0] for line in list(lines)[2:] if line[0] in "+-"] == differences
