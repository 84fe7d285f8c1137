"""Text boxes and tables that a notebook cell shows, as HTML and as plain text."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

from utils.translation import translate
from virtual_gpu.pictures.svg import in_code

KINDS = ("ask", "good", "bad")
_WORDS = ' class="words"'  # for a column of sentences
_GAP = '<div style="height: 8px"></div>'  # between the parts of a stack
_STYLE = """<style>
.course {font-family: system-ui, sans-serif; font-size: 14px; line-height: 1.5}
.course-card {border-left: 4px solid #8b9096; background: rgba(128,128,128,.10);
 padding: 6px 12px; border-radius: 4px; margin: 4px 0; box-sizing: border-box; max-width: 64em}
.course-card.ask {border-color: #1f7fc4} .course-card.good {border-color: #0a9a6c}
.course-card.bad {border-color: #d9730d}
.course p {margin: 4px 0} .course ul {margin: 4px 0; padding-left: 22px}
.course summary {cursor: pointer}
.course details {margin: 4px 0 4px 2px}
/* Folds of a lesson's text: without this, JupyterLab sets the next paragraph close to them. */
.jp-RenderedMarkdown > details {margin-bottom: 1em}
.course-beside {display: flex; flex-wrap: wrap; gap: 8px 36px; align-items: flex-start}
.course-beside > * {flex: 1 1 300px; min-width: 0}
@media (min-width: 700px) {.course-beside > * {min-width: min-content}}
.course code {font-family: monospace; font-size: 13px; background: rgba(128,128,128,.16);
 padding: 0 3px; border-radius: 3px; color: inherit; overflow-wrap: anywhere}
.course-scroll {overflow-x: auto}
.course table {border-collapse: collapse; margin: 6px 0; color: inherit}
.course th, .course td {padding: 2px 11px 2px 0; text-align: right; border: none; font-size: 13px;
 color: inherit; background: transparent; vertical-align: bottom; max-width: 9em;
 white-space: normal !important}
@media (max-width: 699px) {.course th, .course td {padding-right: 6px}}
.course thead th {border-bottom: 1px solid currentColor; font-weight: 600}
.course th:first-child, .course td:first-child {text-align: left; max-width: 16em}
.course td:first-child:not(.words) code {white-space: nowrap}
.course th.words, .course td.words {text-align: left; max-width: 26em}
.course tbody th, .course tbody td {vertical-align: top}
@media (max-width: 480px) {.course th, .course td {padding-right: 7px; font-size: 12px}}
</style>"""


def _block(inner: str) -> str:
    """Return the course's styles as HTML, followed by `inner` in the `<div>` they apply to.

    inner: HTML.
    """
    return f'{_STYLE}<div class="course">{inner}</div>'


@dataclass(frozen=True)
class Card:
    """A highlighted box of sentences. A notebook shows text between backticks as code.

    kind: the colour of the box, one of `KINDS`: "ask" for a question or a hint of the course,
    "good" or "bad". sentences: one paragraph each. hints: sentences in nested folds, so that
    opening a hint reveals the next fold. items: phrases in a list below the sentences. below: an
    object between the list and the hints, which shows itself as HTML and as text, or None.
    last: a sentence directly below the list, or "". `str` returns everything but the hints as plain
    text, one sentence or item per line.
    """

    kind: str
    sentences: tuple[str, ...]
    hints: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    below: object = None
    last: str = ""

    def __str__(self) -> str:
        last = (self.last,) if self.last else ()
        text = "\n".join((*self.sentences, *(f"- {item}" for item in self.items), *last))
        return "\n".join((text.replace("`", ""), *([str(self.below)] if self.below else [])))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        # The site's search shows the text without tags, so sentences need a space between them.
        paragraphs = "\n".join(f"<p>{in_code(sentence)}</p>" for sentence in self.sentences)
        items = "".join(f"<li>{in_code(item)}</li>" for item in self.items)
        items = f"<ul>{items}</ul>" if items else ""
        items += f"<p>{in_code(self.last)}</p>" if self.last else ""
        below = self.below._repr_html_() if self.below else ""
        inner = f"{paragraphs}{items}{below}{_folded(self.hints)}"
        return _block(f'<div class="course-card {self.kind}">{inner}</div>')


@dataclass(frozen=True)
class Table:
    """A small table of text that a notebook shows as HTML; the first column names the rows.

    It should have at most eight rows and five columns. caption: the line above the table. head: the
    titles of the columns. note: a sentence below the table, "" for none. `str` returns the table as
    plain text with aligned columns.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    def __str__(self) -> str:
        cells = [[cell.replace("`", "") for cell in row] for row in (self.head, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
            for row in cells
        ]
        return "\n".join(
            [self.caption, *lines, *([self.note.replace("`", "")] if self.note else [])]
        )

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        wordy = [any(map(_is_words, column)) for column in zip(*self.rows, strict=True)]
        wordy = wordy or [False] * len(self.head)  # a table without rows
        heads = "".join(
            f'<th scope="col"{_WORDS * words}>{in_code(title)}</th>'
            for title, words in zip(self.head, wordy, strict=True)
        )
        rows = "".join(f"<tr>{''.join(map(_cell, row, wordy))}</tr>" for row in self.rows)
        table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        note = f"<p>{in_code(self.note)}</p>" if self.note else ""
        caption = f"<p><b>{in_code(self.caption)}</b></p>"
        return _block(f'{caption}<div class="course-scroll">{table}</div>{note}')


@dataclass(frozen=True)
class Fold:
    """A closed fold, which a notebook opens by a click on its title.

    title: the words of the click, such as "Show the answer". inside: an object that a notebook
    shows as HTML, such as a Table or Paragraphs. `str` returns the text of what is inside.
    """

    title: str
    inside: object

    def __str__(self) -> str:
        return str(self.inside)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        title = html.escape(self.title)
        inside = self.inside._repr_html_()
        return _block(f"<details><summary>{title}</summary>{inside}</details>")


@dataclass(frozen=True)
class Paragraphs:
    """Sentences without a box, one paragraph each. `str` returns them as text, one per line.

    sentences: one text per paragraph.
    """

    sentences: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.sentences).replace("`", "")

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return "".join(f"<p>{in_code(sentence)}</p>" for sentence in self.sentences)


@dataclass(frozen=True)
class Stack:
    """Tables, pictures and cards that a notebook shows one below the other.

    parts: objects that a notebook shows as HTML. `str` returns their texts, with an empty line
    between two of them.
    """

    parts: tuple

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.parts))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return _GAP.join(part._repr_html_() for part in self.parts)


@dataclass(frozen=True)
class Beside(Stack):
    """Tables and pictures side by side, or one below the other where the page is narrow.

    parts: as of a Stack.
    """

    def _repr_html_(self) -> str:
        parts = "".join(f"<div>{part._repr_html_()}</div>" for part in self.parts)
        return _block(f'<div class="course-beside">{parts}</div>')


def table(caption: str, head: Sequence[str], rows: Sequence[Sequence], note: str = "") -> Table:
    """Return a Table whose cells are the values in `rows`, each converted with `str`.

    The caption and the titles in `head` are translated into the reader's language if the catalogue
    has them. The cells and the note are not translated.
    """
    titles = tuple(translate(title) if title else "" for title in head)
    return Table(translate(caption), titles, tuple(tuple(map(str, row)) for row in rows), note)


def _is_words(cell: str) -> bool:
    """Return True if a cell has more than three spaces, as a phrase has."""
    return cell.count(" ") > 3


def _cell(cell: str, words: bool) -> str:
    """Return a cell as an HTML `<td>` element; `words` gives it the class of a wide text column.

    Text between backticks becomes code, and the space between a number and its unit does not break.
    """
    if re.fullmatch(r"[\d.,]+ \S+", cell):
        cell = cell.replace(" ", "\u00a0")  # no line break between a number and its unit
    return f"<td{_WORDS * words}>{in_code(cell)}</td>"


def _folded(hints: Sequence[str]) -> str:
    """Return the hints as HTML folds, each of which contains the next; "" without hints."""
    inner = ""
    for number, hint in reversed(list(enumerate(hints, start=1))):
        title = html.escape(translate("Hint {number}", number=number))
        inner = f"<details><summary>{title}</summary><p>{in_code(hint)}</p>{inner}</details>"
    return inner
