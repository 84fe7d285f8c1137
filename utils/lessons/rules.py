"""The rules that a lesson must keep and a program can check, in its notebook and its outputs.

Each rule is a function that takes a Lesson and yields a sentence for each violation.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path

import nbformat

from utils.figures.look import number
from utils.lessons.first_cell import first_cell
from utils.lessons.questions import bank
from utils.paths import NOTEBOOKS

LONGEST_CELL = 10  # source lines that are not empty
LONGEST_TO_REPAIR = 20  # source lines of a whole kernel that the reader repairs
MOST_ROWS, MOST_COLUMNS = 8, 5
MOST_PREDICTIONS = 4
YOUR_TURN = "your-turn"
# Work that a lesson leaves to named functions, because tables are no subject of this course.
TABLE_WORK = ("import pandas", ".groupby(", ".pivot", ".query(", ".merge(", "pd.")
# "line" can be a source line, a cache line or a line of a figure; one of these words says which.
WHICH_LINE = r"(?:source|cache|dashed|dotted|grey|horizontal|by|code|command)[ -]"
_NAME = re.compile(r"\b(?:course\.)?(predict|reveal|check|task)\(\s*\"([^\"]+)\"")
# Absolute paths of a machine.
_PATH = re.compile(r"(?<![\w./~])/(?:home|root|tmp|usr|Users|content|work|mnt|opt)/\w+")
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class Cell:
    """A cell of a notebook.

    position: the number of the cell, counted from 1. kind: "code", "markdown" or "raw". shown: the
    outputs of a code cell as HTML and text, in one string.
    """

    position: int
    kind: str
    source: str
    tags: tuple[str, ...]
    shown: str


@dataclass(frozen=True, eq=False)
class Lesson:
    """A notebook in the form that the rules need. name: its file name without the suffix."""

    name: str
    cells: tuple[Cell, ...]

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

        function: "predict", "reveal", "task" or "check". name: that of a question or an exercise.
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
        Cell(index, cell.cell_type, cell.source, tuple(cell.metadata.get("tags", ())), _shown(cell))
        for index, cell in enumerate(notebook.cells, start=1)
    )
    return Lesson(name, tuple(cells))


def broken_rules(lesson: Lesson) -> list[str]:
    """Return a sentence for each violation of `RULES` in the notebook itself; [] if there is none.

    The outputs of the cells are not examined.
    """
    return [sentence for rule in RULES for sentence in rule(lesson)]


def broken_when_shown(lesson: Lesson, answers: dict[str, object]) -> list[str]:
    """Return a sentence for each violation in the outputs of an executed lesson.

    answers: the measured answers by the question's name; no cell above the question may show one.
    """
    return [
        *_gives_away(lesson, answers),
        *(sentence for rule in SHOWN_RULES for sentence in rule(lesson)),
    ]


def _begins_as_all_do(lesson: Lesson) -> Iterator[str]:
    if not lesson.code or lesson.code[0].source != first_cell(lesson.name[:2]):
        yield "its first code cell is not that of utils.lessons.first_cell"
    opening = lesson.prose[0].source if lesson.prose else ""
    for phrase in ("After this lesson you can", "**Time:**", "You need"):
        if phrase not in opening:
            yield f"its first cell does not say '{phrase}'"


def _has_short_cells(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.code:
        lines = sum(bool(line.strip()) for line in cell.source.splitlines())
        most = LONGEST_TO_REPAIR if YOUR_TURN in cell.tags else LONGEST_CELL
        if lines > most:
            yield f"cell {cell.position} has {lines} lines of code; at most {most}"


def _leaves_tables_to_functions(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.code:
        for word in (word for word in TABLE_WORK if word in cell.source):
            yield f"cell {cell.position} works on tables: {word}"


def _asks_before_it_shows(lesson: Lesson) -> Iterator[str]:
    predicted, revealed = lesson.positions("predict"), lesson.positions("reveal")
    if not 2 <= len(predicted) <= MOST_PREDICTIONS:
        yield f"it asks for {len(predicted)} predictions; 2 to {MOST_PREDICTIONS} are wanted"
    for name in predicted.keys() | revealed.keys():
        if name not in bank():
            yield f"there is no question named {name}"
        if predicted.get(name, 10**6) > revealed.get(name, -1):
            yield f"{name} is not first predicted and then revealed"
    for cell in lesson.code:
        if re.search(r"course\.predict\(\"[^\"]+\", (?!None\))", cell.source):
            yield f"cell {cell.position} holds a prediction"
    if "course.ledger(" not in "".join(cell.source for cell in lesson.code):
        yield "it does not show the predictions once more at its end"


def _lets_the_reader_write(lesson: Lesson) -> Iterator[str]:
    tasks, checks = lesson.positions("task"), lesson.positions("check")
    turns = [cell.position for cell in lesson.code if YOUR_TURN in cell.tags]
    if not checks:
        yield "it checks no kernel of the reader's"
    for name, position in checks.items():
        if not any(tasks.get(name, 10**6) < turn < position for turn in turns):
            yield f"{name} has no task and no cell tagged {YOUR_TURN} before it is checked"
    changes = [cell.position for cell in lesson.code if "course.show_change(" in cell.source]
    if changes and checks and min(changes) < min(checks.values()):
        yield f"cell {changes[0]} shows the course's change before the reader's turn"


def _says_which_line(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.prose:
        prose = re.sub(r"```.*?```|`[^`]*`", "", cell.source, flags=re.DOTALL)
        for word in re.finditer(r"\blines?\b", prose, flags=re.IGNORECASE):
            if not re.search(WHICH_LINE + r"$", prose[: word.start()], flags=re.IGNORECASE):
                around = prose[max(0, word.start() - 25) : word.end() + 10].replace("\n", " ")
                yield f"cell {cell.position} says 'line' alone: …{around}…"


def _links_to_what_exists(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.prose:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", cell.source):
            if not (NOTEBOOKS / target).exists():
                yield f"cell {cell.position} links to {target}, which does not exist"


def _parses(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.code[1:]:
        try:
            ast.parse(cell.source)
        except SyntaxError as error:
            yield f"cell {cell.position} is not valid Python: {error.msg}"


def _gives_away(lesson: Lesson, answers: dict[str, object]) -> Iterator[str]:
    """Yield a sentence for each cell that gives away the answer of a question.

    answers: the measured answers by the question's name; only numbers are looked for. No cell may
    show a number with its unit above the question, and no prose may say it above the `reveal`.
    """
    predicted, revealed = lesson.positions("predict"), lesson.positions("reveal")
    for name, value in answers.items():
        if name not in predicted or not isinstance(value, int | float):
            continue
        pattern = _spellings(value, bank()[name].unit)
        for cell in lesson.cells:
            above = cell.position <= predicted[name]
            text = cell.source if cell.kind == "markdown" else ""
            text += _text_of(cell.shown) if above else ""
            if cell.position < revealed.get(name, 0) and (match := pattern.search(text)):
                yield f"cell {cell.position} gives the answer of {name} away: {match[0]}"


def _shows_small_tables(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.cells:
        for rows, columns in _tables(cell.shown):
            if rows > MOST_ROWS or columns > MOST_COLUMNS:
                yield f"cell {cell.position} shows a table of {rows} rows and {columns} columns"


def _describes_its_pictures(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.cells:
        for tag in re.findall(r"<(?:img|svg)\b[^>]*>", cell.shown):
            if not re.search(r'(?:alt|aria-label|aria-labelledby)="[^"]+|aria-hidden="true"', tag):
                yield f"cell {cell.position} shows a picture without words: {tag[:60]}"


def _names_no_machine(lesson: Lesson) -> Iterator[str]:
    for cell in lesson.cells:
        if match := _PATH.search(_text_of(cell.shown)):
            yield f"cell {cell.position} shows a path of this machine: {match[0]}"


Rule = Callable[[Lesson], Iterator[str]]
RULES: tuple[Rule, ...] = (
    _parses,
    _begins_as_all_do,
    _has_short_cells,
    _leaves_tables_to_functions,
    _asks_before_it_shows,
    _lets_the_reader_write,
    _says_which_line,
    _links_to_what_exists,
)
SHOWN_RULES: tuple[Rule, ...] = (_shows_small_tables, _describes_its_pictures, _names_no_machine)


def _shown(cell: nbformat.NotebookNode) -> str:
    """Return all outputs of a cell, one per line, as HTML if they have it, else as text.

    A cell without outputs has an empty string.
    """
    parts = []
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        parts.append(data.get("text/html") or data.get("text/plain") or output.get("text", ""))
    return "\n".join(parts)


def _spellings(value: float, unit: str) -> re.Pattern:
    """Return a regular expression that finds a number with its unit, as prose could write it.

    The number may be rounded, if the rounded number would still count as a right prediction.
    """
    spellings = {number(value), f"{value:g}", f"{value:.2g}"}
    if abs(round(value) - value) <= 0.05 * value:
        spellings |= {f"{round(value)}", f"{round(value):,}"}
        spellings |= {_WORDS[round(value)]} if 0 <= round(value) < len(_WORDS) else set()
    numbers = "|".join(re.escape(spelling) for spelling in spellings)
    units = "times|×" if unit == "times" else re.escape(unit.rstrip("s")) + "s?"
    return re.compile(rf"(?<![\w.,])(?:{numbers})[ \u00a0-]?(?:{units})", flags=re.IGNORECASE)


class _Reader(HTMLParser):
    """An HTML parser that collects the visible text and the sizes of tables."""

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
    reader = _Reader()
    reader.feed(shown)
    return reader


def _text_of(shown: str) -> str:
    return " ".join(_parsed(shown).text)


def _tables(shown: str) -> list[tuple[int, int]]:
    """Return (rows below the head, columns) of each table in HTML, inner tables first.

    Tables of annotated source code are left out.
    """
    return _parsed(shown).tables
