"""List the numbers in a lesson's prose that no test proves: `python -m tools.numbers_in_prose 05`.

A test of a lesson's claims quotes the sentence that it proves, with a field for each figure:

    says = partial(quotes.says, "05")
    says("That makes {:.0f} cycles", course.cache_lines_per_multiply_add(strided))

`tests/quotes.py` fills the fields with what the test computed and looks for the sentence in the
notebook. So a number of the prose is proven if it matches a field of a quote. A figure that is
written into the test as a literal proves nothing.

Exempt are names such as H200, code, the numbers of lessons, exercises and list items, the lesson's
title, and its line of time, which is an estimate.
"""

from __future__ import annotations

import ast
import re
import string
import sys
from collections.abc import Iterator
from pathlib import Path

from utils.errors import CourseError
from utils.lessons.files import notebook_of
from utils.lessons.folders import lesson_folder
from utils.lessons.lesson_text import read
from utils.paths import ROOT

FIGURE = r"\d(?:[\d,.^]*\d)?[⁰¹²³⁴⁵⁶⁷⁸⁹]*"
NUMBER = re.compile(rf"(?<![\w.]){FIGURE}")
EXEMPT = re.compile(
    r"```.*?```|`[^`]*`|<code>.*?</code>"  # code
    r"|<[^>]*>|(?<=\])\([^)]*\)"  # tags, and targets of links
    r"|^# [^\n]*$|^\*\*Time:\*\*[^\n]*?\."  # title, and the first sentence of the line of time
    r"|^(?:\*\*)?\d+\. "  # items of lists, and titles of exercises
    r"|\b[Ll]essons? \d\d(?:(?:, | and | to )\d\d)*|\[\d\d\]"
    r"|\b(?:[Ee]xercises?|reasons?) \d+(?: and \d+)?",  # items of lists, in words
    re.DOTALL | re.MULTILINE,
)
CONTEXT = 40  # characters on each side of a number


def prose(number: str) -> list[str]:
    """Return the text of each Markdown cell of a lesson, each on one line.

    number: the lesson's number, such as "05".
    """
    return [_one_line(text) for text in _cells(number)]


def unproven(number: str) -> list[str]:
    """Return an excerpt for each number in a lesson's prose that no quote proves.

    number: the lesson's number, such as "05". An excerpt has the words around the number.
    """
    return unproven_in(_cells(number), list(quotes_of(number)))


def unproven_in(cells: list[str], quotes: list[re.Pattern]) -> list[str]:
    """Return an excerpt for each number in these Markdown cells that no quote proves.

    quotes: patterns with a group for each figure that is proven. An excerpt has the words around
    the number, between "…".
    """
    lines = [_one_line(text) for text in cells]
    excerpts = []
    for text, line, proven in zip(cells, lines, _proven(lines, quotes), strict=True):
        for number in NUMBER.finditer(_one_line(EXEMPT.sub(_without_digits, text))):
            begin, end = number.span()
            if not any(first < end and begin < last for first, last in proven):
                excerpts.append(f"…{line[max(0, begin - CONTEXT) : end + CONTEXT]}…")
    return excerpts


def _proven(lines: list[str], quotes: list[re.Pattern]) -> list[list[tuple[int, int]]]:
    """Return, for each line, the spans (begin, end) of the figures that a quote proves.

    A quote that matches different figures in several lines proves only one of them, and the pattern
    does not tell which, so it counts for none.
    """
    spans = [[] for _ in lines]
    for quote in quotes:
        matches = [
            (index, match) for index, line in enumerate(lines) for match in quote.finditer(line)
        ]
        if len({match[0] for _, match in matches}) == 1:
            for index, match in matches:
                spans[index] += [match.span(group) for group in range(1, quote.groups + 1)]
    return spans


def claims_of(number: str) -> Path:
    """Return the path of the file with the tests of a lesson's claims.

    number: the lesson's number, such as "05".
    """
    return ROOT / "tests" / lesson_folder(number).relative_to(ROOT) / "test_claims.py"


def quotes_of(number: str) -> Iterator[re.Pattern]:
    """Yield a pattern for each quote in the tests of a lesson's claims.

    Each pattern has a group per computed figure. number: the lesson's number, such as "05".
    """
    for call in ast.walk(ast.parse(claims_of(number).read_text(encoding="utf-8"))):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "says":
            quote, *figures = call.args
            yield pattern(ast.literal_eval(quote), figures)


def pattern(quote: str, figures: list[ast.expr]) -> re.Pattern:
    """Return a pattern that finds a quote in prose, with a group per computed figure.

    quote: text with a field per figure. figures: the expressions that fill the fields; those
    without a variable are not computed.
    """
    parts = [r"(?<![\d.,])"]
    remaining = [*figures]
    for words, field, *_ in string.Formatter().parse(_one_line(quote)):
        parts.append(re.escape(words))
        if field is not None:
            figure = remaining[0] if isinstance(remaining[0], ast.Starred) else remaining.pop(0)
            computed = any(isinstance(node, ast.Name) for node in ast.walk(figure))
            parts.append(f"(-?{FIGURE})" if computed else f"(?:-?{FIGURE})")
    return re.compile("".join(parts) + r"(?!\d|[.,]\d)")


def _cells(number: str) -> list[str]:
    """Return the sources of a lesson's Markdown cells."""
    return [cell.source for cell in read(notebook_of(number)).prose]


def _one_line(text: str) -> str:
    """Return a text with each run of spaces and line breaks replaced by one space."""
    return " ".join(text.split())


def _without_digits(match: re.Match) -> str:
    """Return the text that a pattern has matched, with each digit replaced by "_"."""
    return re.sub(r"\d", "_", match[0])


def main() -> int:
    """Print the unproven numbers of the lessons in the arguments; return an exit code.

    It is 0 if there are none, 1 if there are some, and 2 for an unknown lesson.
    """
    try:
        lists = {number: unproven(number) for number in sys.argv[1:]}
    except CourseError as error:
        print(error, file=sys.stderr)
        return 2
    for number, excerpts in lists.items():
        head = f"Lesson {number}: {len(excerpts)} numbers in prose that no quote holds"
        print(head, *excerpts, sep="\n    ")
    return 1 if any(lists.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
