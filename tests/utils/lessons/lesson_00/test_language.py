"""No English is left in what lesson 00 shows when every sentence has a translation."""

import ast
import html
import linecache
import re

import nbformat
import pytest

from labs import EXERCISES
from utils import translation
from utils.lessons.files import notebook_of
from utils.reader_folder import LEDGER
from utils.translation import LANGUAGE

# What is between these is no text of the course, or is code.
NO_TEXT = re.compile(
    r"<(style|script|code)\b.*?</\1>|<td class=\"code\".*?<summary>.*?</summary>|"
    r"<td class=\"code\"[^>]*>(?!<details>)[^<]*|`[^`]*`",
    re.DOTALL,
)
LABEL = re.compile(r"(?:aria-label|alt|title|data-title)=\"([^\"]*)\"")
NAMES = {"NVIDIA H200"}


class Dots:
    """A catalogue that translates every message: its words become dots, and code stays."""

    def get(self, message, default=None):
        parts = re.split(r"(`[^`]*`|\{[^{}]*\})", message)
        parts[::2] = (re.sub(r"[^\W\d_]+", "·", part) for part in parts[::2])
        return "".join(parts)


def english_in(shown: str) -> set[str]:
    """Return the pairs of words that a page shows or that a label of it has."""
    text = NO_TEXT.sub(" ", shown)
    text = " | ".join([re.sub(r"<[^>]*>", " | ", text), *LABEL.findall(text)])
    return set(re.findall(r"[A-Za-z]{2,} [A-Za-z0-9]{2,}", html.unescape(text))) - NAMES


def cells():
    """Return the code cells of the lesson, with right kernels where the reader writes them."""
    solutions = {"scale": "scale = EXERCISES['scale'].solution"}
    for cell in nbformat.read(notebook_of("00"), as_version=4).cells[2:]:
        if cell.cell_type == "code":
            written = next((name for name in solutions if f"def {name}(" in cell.source), None)
            yield solutions.get(written, cell.source)


def last_value(source: str, file: str, names: dict) -> object:
    """Execute a cell and return what a notebook shows of it: the value of a last expression."""
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    *before, last = ast.parse(source).body
    shows = isinstance(last, ast.Expr)
    exec(compile(ast.Module(before if shows else [*before, last], []), file, "exec"), names)
    return eval(compile(ast.Expression(last.value), file, "eval"), names) if shows else None


def test_english_in_a_page_would_be_noticed():
    page = '<p>one word</p><code>two words</code><i alt="a label of it">'
    assert english_in(page) == {"one word", "label of"}


@pytest.mark.slow
def test_no_english_is_left_in_what_the_lesson_shows(monkeypatch, tmp_path):
    monkeypatch.setenv(LANGUAGE, "xx")
    monkeypatch.setenv(LEDGER, str(tmp_path / "predictions.json"))
    monkeypatch.setattr(translation, "_catalogue", lambda chosen: Dots())
    from utils import lessons as course

    names, left = {"course": course, "EXERCISES": EXERCISES}, {}
    for number, source in enumerate(cells()):
        value = last_value(source, f"<cell {number}>", names)
        if value is None:
            continue
        shown = value._repr_html_() if hasattr(value, "_repr_html_") else html.escape(str(value))
        if english_in(shown):
            left[source] = english_in(shown)
    assert left == {}
