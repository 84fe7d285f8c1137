"""List the numbers in a lesson's prose that no quote holds: `python -m tools.numbers_in_prose 05`.

A test of a lesson's claims quotes the sentence that it proves, with a field for each figure:

    says = partial(quotes.says, "05")
    says("That makes {:.0f} cycles", course.cache_lines_per_multiply_add(strided))

`tests/quotes.py` fills the fields with what the test computed and looks for the sentence in the
notebook. So a number of the prose is held if a field of such a quote stands for it. A figure that
is written into the test as a literal proves nothing, and holds nothing.

Exempt are names such as H200, code, the numbers of lessons, exercises and list items, the lesson's
title, and its line of time, which is an estimate.
"""

from __future__ import annotations

import ast
import re
import string
import sys
from collections.abc import Iterator

from utils.errors import CourseError
from utils.lessons import rules
from utils.lessons.rooms import room
from utils.lessons.where import notebook_of
from utils.paths import ROOT

FIGURE = r"\d(?:[\d,.^]*\d)?"
NUMBER = re.compile(rf"(?<![\w.]){FIGURE}")
EXEMPT = re.compile(
    r"```.*?```|`[^`]*`|<code>.*?</code>"  # code
    r"|<[^>]*>|(?<=\])\([^)]*\)"  # tags, and where links lead
    r"|^# [^\n]*$|^\*\*Time:\*\*[^\n]*?\."  # title, and the first sentence of the line of time
    r"|^(?:\*\*)?\d+\. "  # items of lists, and titles of exercises
    r"|\b[Ll]essons? \d\d(?:(?:, | and | to )\d\d)*|\[\d\d\]"
    r"|\b(?:[Ee]xercises?|reasons?) \d+(?: and \d+)?",  # items of lists, in words
    re.DOTALL | re.MULTILINE,
)
CONTEXT = 40  # characters on each side of a number


def prose(number: str) -> list[str]:
    """The Markdown cells of a lesson, each on one line."""
    return [_one_line(text) for text in _cells(number)]


def unheld(number: str) -> list[str]:
    """The numbers in a lesson's prose that no quote holds, each with the words around it."""
    return unheld_in(_cells(number), list(quotes_of(number)))


def unheld_in(cells: list[str], quotes: list[re.Pattern]) -> list[str]:
    """The same for these Markdown cells. quotes: with a group for each figure that is proven."""
    lines = [_one_line(text) for text in cells]
    places = []
    for text, line, held in zip(cells, lines, _held(lines, quotes), strict=True):
        for number in NUMBER.finditer(_one_line(EXEMPT.sub(_without_digits, text))):
            begin, end = number.span()
            if not any(first < end and begin < last for first, last in held):
                places.append(f"…{line[max(0, begin - CONTEXT) : end + CONTEXT]}…")
    return places


def _held(lines: list[str], quotes: list[re.Pattern]) -> list[list[tuple[int, int]]]:
    """For each line where the figures stand that a quote proves.

    A quote that fits several places with different figures is proven for one of them only, and
    nobody can tell which: it holds none.
    """
    held = [[] for _ in lines]
    for quote in quotes:
        matches = [(at, found) for at, line in enumerate(lines) for found in quote.finditer(line)]
        if len({found[0] for _, found in matches}) == 1:
            for at, found in matches:
                held[at] += [found.span(group) for group in range(1, quote.groups + 1)]
    return held


def quotes_of(number: str) -> Iterator[re.Pattern]:
    """The quotes in the lesson's claims as patterns, with a group for each figure."""
    file = ROOT / "tests" / room(number).relative_to(ROOT) / "test_claims.py"
    for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "says":
            quote, *figures = call.args
            yield pattern(ast.literal_eval(quote), figures)


def pattern(quote: str, figures: list[ast.expr]) -> re.Pattern:
    """What finds a quote in prose, with a group for each figure that a test computes."""
    parts = [r"(?<![\d.,])"]
    left = [*figures]
    for words, field, *_ in string.Formatter().parse(_one_line(quote)):
        parts.append(re.escape(words))
        if field is not None:
            figure = left[0] if isinstance(left[0], ast.Starred) else left.pop(0)
            computed = any(isinstance(node, ast.Name) for node in ast.walk(figure))
            parts.append(f"(-?{FIGURE})" if computed else f"(?:-?{FIGURE})")
    return re.compile("".join(parts) + r"(?!\d|[.,]\d)")


def _cells(number: str) -> list[str]:
    return [cell.source for cell in rules.read(notebook_of(number)).prose]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _without_digits(match: re.Match) -> str:
    return re.sub(r"\d", "_", match[0])


def main() -> int:
    try:
        lists = {number: unheld(number) for number in sys.argv[1:]}
    except CourseError as error:
        print(error, file=sys.stderr)
        return 2
    for number, places in lists.items():
        head = f"Lesson {number}: {len(places)} numbers in prose that no quote holds"
        print(head, *places, sep="\n    ")
    return 1 if any(lists.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
