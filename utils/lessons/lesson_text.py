"""A notebook as the rules for lessons read it: its cells, its calls, and its words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path

import nbformat

from utils.lessons.first_cell import is_folded
from utils.paths import number_of

YOUR_TURN = "your-turn"
_NAME = re.compile(r"\b(?:course\.)?(predict|reveal|check|task)\(\s*\"([^\"]+)\"")
# Elements whose text is no prose: code, tables, pictures, and what a reader operates.
_NO_PROSE = {"script", "style", "svg", "table", "pre", "button", "select", "output"}
# Classes of such elements: a movie, an annotated source, their static version, and machine code.
_NO_PROSE_CLASSES = {"vm", "vgpu", "listing", "still", "frames", "controls"}
_VOID = {"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}


@dataclass(frozen=True)
class Cell:
    """A cell of a notebook.

    position: the number of the cell, counted from 1. kind: "code", "markdown" or "raw". source: the
    cell's text. tags: from its metadata. shown: the outputs of a code cell as HTML and text, in one
    string. is_folded: True if the cell's code is folded away as the first code cell's must be.
    """

    position: int
    kind: str
    source: str
    tags: tuple[str, ...]
    shown: str
    is_folded: bool = False


@dataclass(frozen=True, eq=False)
class Lesson:
    """A notebook in the form that the rules need.

    name: its file name without the suffix. cells: all cells, in order.
    """

    name: str
    cells: tuple[Cell, ...]

    @property
    def number(self) -> str:
        """The number of the lesson, such as "07", or the name of an extra one."""
        return number_of(self.name)

    @property
    def sittings(self) -> int:
        """The number of sittings that the lesson takes, by its line of time: 1 or 2."""
        return 1 + any("**Time:** two sittings" in cell.source for cell in self.prose)

    @property
    def code(self) -> tuple[Cell, ...]:
        """The code cells, in order."""
        return tuple(cell for cell in self.cells if cell.kind == "code")

    @property
    def prose(self) -> tuple[Cell, ...]:
        """The Markdown cells, in order."""
        return tuple(cell for cell in self.cells if cell.kind == "markdown")

    @cached_property
    def calls(self) -> tuple[tuple[str, str, int], ...]:
        """All calls of predict, reveal, task and check: (function, name, position), in order."""
        return tuple(
            (function, name, cell.position)
            for cell in self.code
            for function, name in _NAME.findall(cell.source)
        )

    def positions(self, function: str) -> dict[str, int]:
        """Return name -> position of the first cell that calls `function` with this name.

        function: "predict", "reveal", "task" or "check". A name is that of a question or of an
        exercise; positions count cells from 1.
        """
        positions: dict[str, int] = {}
        for called, name, position in self.calls:
            if called == function:
                positions.setdefault(name, position)
        return positions


def read(file: Path) -> Lesson:
    """Read a lesson from a notebook file, with its outputs if it was executed."""
    return from_notebook(nbformat.read(file, as_version=4), file.stem)


def from_notebook(notebook: nbformat.NotebookNode, name: str) -> Lesson:
    """Return the lesson in a notebook. name: the file name without its suffix."""
    cells = (
        Cell(
            index,
            cell.cell_type,
            cell.source,
            tuple(cell.metadata.get("tags", ())),
            _shown(cell),
            is_folded(cell.metadata),
        )
        for index, cell in enumerate(notebook.cells, start=1)
    )
    return Lesson(name, tuple(cells))


@dataclass
class Words:
    """The number of words on a page or in a part of it.

    visible: words outside of closed folds. folded: words inside of them.
    """

    visible: int = 0
    folded: int = 0

    def __add__(self, other: Words) -> Words:
        return Words(self.visible + other.visible, self.folded + other.folded)


def words_of(cell: Cell) -> Words:
    """Count the words of prose in a cell, those on the page and those in closed folds.

    In Markdown, blocks of code and targets of links are not counted; code within a line and tables
    are. In outputs, only the cards, captions and notes of HTML are counted: no tables, no blocks of
    code, no plain text, and no text in pictures.
    """
    if cell.kind == "markdown":
        return _counted(re.sub(r"\]\([^)]*\)", "]", without_code_blocks(cell.source)))
    return _counted(cell.shown) if "</" in cell.shown else Words()  # else it is no HTML


def without_code_blocks(markdown: str) -> str:
    """Return Markdown without its blocks of code between lines of backticks."""
    return re.sub(r"```.*?```", "", markdown, flags=re.DOTALL)


def prose_of(lesson: Lesson) -> list[tuple[int, str]]:
    """Return (position, text) of the Markdown cells, with each text on one line.

    Positions count all cells from 1. Blocks of code and link targets are left out, and "x" replaces
    code within a line.
    """
    cells = []
    for cell in lesson.prose:
        text = re.sub(r"`[^`]*`|<code>.*?</code>", "x", without_code_blocks(cell.source))
        text = re.sub(r"\]\([^)]*\)", "]", text)
        cells.append((cell.position, " ".join(text.split())))
    return cells


def _counted(html: str) -> Words:
    """Return the numbers of words of prose in HTML: visible ones, and those in closed folds.

    Code, tables and the text in pictures are not counted.
    """
    counter = _WordCounter()
    counter.feed(html)
    return counter.words


@dataclass
class _Open:
    """An open element of HTML.

    tag: its name, such as "p". is_prose: True if text in it counts as prose. is_fold: True if it is
    in a closed fold. The last two also hold for elements inside of it.
    """

    tag: str
    is_prose: bool = True
    is_fold: bool = False


class _WordCounter(HTMLParser):
    """An HTML parser that counts the words of prose in `words`."""

    def __init__(self) -> None:
        super().__init__()
        self.words = Words()
        self._open = [_Open("")]

    def handle_starttag(self, tag: str, attributes: list) -> None:
        if tag in _VOID:
            return
        around = self._open[-1]
        classes = set((dict(attributes).get("class") or "").split())
        is_prose = not (tag in _NO_PROSE or classes & _NO_PROSE_CLASSES)
        # The title of a fold is visible, unless the fold is in another fold.
        is_fold = tag == "details" or around.is_fold
        if tag == "summary":
            is_fold = any(one.is_fold for one in self._open[:-1])
        self._open.append(_Open(tag, around.is_prose and is_prose, is_fold))

    def handle_endtag(self, tag: str) -> None:
        if tag in (one.tag for one in self._open):
            while self._open.pop().tag != tag:
                pass

    def handle_data(self, data: str) -> None:
        inside = self._open[-1]
        count = sum(any(map(str.isalnum, word)) for word in data.split()) * inside.is_prose
        self.words += Words(folded=count) if inside.is_fold else Words(visible=count)


def _shown(cell: nbformat.NotebookNode) -> str:
    """Return all outputs of a cell, one per line, as HTML if they have it, else as text.

    A cell without outputs has an empty string.
    """
    parts = []
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        parts.append(data.get("text/html") or data.get("text/plain") or output.get("text", ""))
    return "\n".join(parts)


class _Reader(HTMLParser):
    """An HTML parser that collects the visible text and the sizes of tables.

    text: the pieces of text between tags, in order; those of scripts and styles are left out.
    tables: (rows below the head, columns) of each table; annotated source code is left out.
    """

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.tables: list[tuple[int, int]] = []
        self._hidden = 0
        # For each open table the number of cells per row; negative if the table does not count.
        self._inside: list[list[int]] = []

    def handle_starttag(self, tag: str, attributes: list) -> None:
        self._hidden += tag in ("script", "style")
        if tag == "table":
            # Annotated source code does not count: it is a table with a row for each line.
            self._inside.append(
                [] if "vgpu" not in dict(attributes).get("class", "") else [-(10**6)]
            )
        elif tag == "tr" and self._inside:
            self._inside[-1].append(0)
        elif tag in ("td", "th") and self._inside and self._inside[-1]:
            self._inside[-1][-1] += 1

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style")
        if tag == "table" and self._inside:
            rows = self._inside.pop()
            if rows and rows[0] >= 0:
                self.tables.append((len(rows) - 1, max(rows)))

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.text.append(data)


def _parsed(shown: str) -> _Reader:
    """Return a `_Reader` that has read this HTML."""
    reader = _Reader()
    reader.feed(shown)
    return reader


def text_of(shown: str) -> str:
    """Return the visible text of HTML such as `Cell.shown`, without scripts and styles.

    The pieces of text between tags are joined by spaces.
    """
    return " ".join(_parsed(shown).text)


def tables_of(shown: str) -> list[tuple[int, int]]:
    """Return (rows below the head, columns) of each table in HTML, inner tables first.

    Tables of annotated source code are left out.
    """
    return _parsed(shown).tables
