"""Remove formulas and, if the instructor wants it, hints from the exercises of a student's copy."""

from __future__ import annotations

import ast
from io import BytesIO

from babel.messages import pofile

from labs.exercises import EXERCISES

FORMULA = '''"""The right answers of `{name}` as data: this copy has no formula."""

from labs.numbers.cases_as_data import cases_beside, no_formula

cases = cases_beside(__file__)
right = draw = branch = no_formula
'''


def without_hints(text: str) -> str:
    """Return the text of an `exercise.py` in which `hints=(...)` is empty."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.keyword) and node.arg == "hints":
            text = text.replace(ast.get_source_segment(text, node.value), "()", 1)
    return text


def catalogue_without_hints(text: str) -> str:
    """Return the text of a .po or .pot file without the hints of all exercises.

    text: the text of the file.
    """
    catalogue = pofile.read_po(BytesIO(text.encode()))
    for exercise in EXERCISES.values():
        for hint in exercise.hints:
            catalogue.delete(hint)
    made = BytesIO()
    pofile.write_po(made, catalogue, width=100)
    return made.getvalue().decode()
