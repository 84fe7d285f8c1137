"""Check quotes of a lesson's prose, so that a claim and its proof cannot drift apart.

A power in a quote or a figure, such as "2^30", is compared as lessons print it: 2³⁰.
"""

import re
from functools import cache

import nbformat

from tools.numbers_in_prose import prose
from utils.ladder.shapes import in_print
from utils.lessons.files import notebook_of
from utils.lessons.questions import bank

prose_of = cache(prose)


def says(lesson: str, quote: str, *figures: object) -> None:
    """Assert that a lesson's prose contains a quote with these figures in its fields.

    lesson: its number. quote: words of one cell as its source has them, with a `str.format` field
    per figure. figures: what the test computed; a literal would prove nothing.
    """
    text = in_print(" ".join(quote.format(*figures).split()))
    whole = re.compile(rf"(?<![\d.,]){re.escape(text)}(?!\d|[.,]\d)")
    found = any(whole.search(cell) for cell in prose_of(lesson))
    assert found, f"the prose of lesson {lesson} does not say {text!r}"


def explains(question: str, because: str, *figures: object) -> None:
    """Assert that the whole explanation of a question's answer is this text with these figures.

    question: its name, such as "00.idle". because: the text with a `str.format` field per number;
    a number outside of a field is refused. figures: what the test computed. White space may differ.
    """
    words = re.sub(r"\{[^}]*\}", "", because)
    assert not re.search(r"(?<!\w)\d", words), f"a number in {because!r} is not computed"
    assert bank()[question].because.split() == in_print(because.format(*figures)).split()


def code(lesson: str, cell_id: str) -> str:
    """Return the source of a lesson's cell, for claims about what a cell launches."""
    cells = nbformat.read(notebook_of(lesson), as_version=4).cells
    return next(cell.source for cell in cells if cell.id == cell_id)
