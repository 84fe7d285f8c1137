"""The rules that a lesson must keep and a program can check, in its notebook and its outputs.

Each rule is a function that takes a Lesson and yields a sentence per violation. A lesson may break
only the rules that `rule_exceptions.toml` lists for it, and must break each of these.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator
from functools import partial

from utils.figures.look import number
from utils.lessons import rewriting_rules
from utils.lessons.first_cell import SENTENCE, first_cell
from utils.lessons.lesson_text import YOUR_TURN, Lesson, tables_of, text_of
from utils.lessons.questions import Question, bank
from utils.paths import NOTEBOOKS

LONGEST_CELL = 10  # source lines that are not empty
LONGEST_TO_REPAIR = 28  # source lines of a whole kernel that the reader repairs or changes
MOST_ROWS, MOST_COLUMNS = 8, 5
MOST_PREDICTIONS = (4, 6)  # of a lesson in one sitting, and in two
# Work that a lesson leaves to named functions, because tables are no subject of this course.
TABLE_WORK = ("import pandas", ".groupby(", ".pivot", ".query(", ".merge(", "pd.")
# "line" can be a source line, a cache line or a line of a figure; one of these words says which.
CODE = r"```.*?```|`[^`]*`|<code>.*?</code>"  # in Markdown and in HTML
WHICH_LINE = r"(?:source|cache|dashed|dotted|grey|horizontal|by|code|command)[ -]"
# Absolute paths of a machine.
_PATH = re.compile(r"(?<![\w./~])/(?:home|root|tmp|usr|Users|content|work|mnt|opt)/\w+")
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def broken_rules(lesson: Lesson, excepted: Collection[str] = ()) -> list[str]:
    """Return a sentence for each violation in the notebook itself; [] if there is none.

    The outputs of the cells are not examined. excepted: the names of the rules that the lesson may
    break. There is also a sentence for each of these rules that it keeps.
    """
    return _violations(lesson, RULES, excepted)


def broken_when_shown(
    lesson: Lesson, answers: dict[str, object], excepted: Collection[str] = ()
) -> list[str]:
    """Return a sentence for each violation in the outputs of an executed lesson.

    answers: question's name -> measured answer; no cell above the question may show one. excepted:
    the names of the rules that the lesson may break. There is also a sentence for each of these
    rules that it keeps.
    """
    return [*_gives_away(lesson, answers), *_violations(lesson, SHOWN_RULES, excepted)]


def name_of(rule: Rule) -> str:
    """Return the name that `rule_exceptions.toml` uses for a rule.

    It is the name of the rule's function without a leading underscore.
    """
    return rule.__name__.lstrip("_")


def _violations(
    lesson: Lesson, rules: tuple[Rule, ...], excepted: Collection[str]
) -> list[str]:
    """Return a sentence per violation, and one per excepted rule that the lesson keeps."""
    sentences = []
    for rule in rules:
        broken = list(rule(lesson))
        if name_of(rule) not in excepted:
            sentences += broken
        elif not broken:
            sentences.append(
                f"it keeps the rule {name_of(rule)}, which rule_exceptions.toml lists as broken: "
                "run python -m tools.rule_exceptions"
            )
    return sentences


def _begins_as_all_do(lesson: Lesson) -> Iterator[str]:
    """Yield a sentence per fault of a lesson's beginning.

    The first code cell must be that of `first_cell` and folded, the first prose must have
    `SENTENCE`, and the first two cells of prose must state the goals, the time and what the reader
    needs.
    """
    if not lesson.code or lesson.code[0].source != first_cell(lesson.number):
        yield "its first code cell is not that of utils.lessons.first_cell"
    elif not lesson.code[0].is_folded:
        yield "its first code cell is not folded"
    opening, *others = [cell.source for cell in lesson.prose[:2]] or [""]
    if SENTENCE not in opening:
        yield f"its first cell does not say what the set-up does: {SENTENCE}"
    for phrase in ("After this lesson you can", "**Time:**", "You need"):
        if phrase not in " ".join([opening, *others]):
            yield f"its first two cells of prose do not say '{phrase}'"


def _has_short_cells(lesson: Lesson) -> Iterator[str]:
    """Yield a sentence per code cell with more than 10 lines, not counting empty ones.

    A cell tagged as the reader's turn may have 28, because it can hold a whole kernel. The first
    code cell is not looked at.
    """
    for cell in lesson.code[1:]:  # the first one is folded
        lines = sum(bool(line.strip()) for line in cell.source.splitlines())
        most = LONGEST_TO_REPAIR if YOUR_TURN in cell.tags else LONGEST_CELL
        if lines > most:
            yield f"cell {cell.position} has {lines} lines of code; at most {most}"


def _leaves_tables_to_functions(lesson: Lesson) -> Iterator[str]:
    """Yield a sentence per code cell and word of `TABLE_WORK` in it, which is a use of pandas."""
    for cell in lesson.code:
        for word in (word for word in TABLE_WORK if word in cell.source):
            yield f"cell {cell.position} works on tables: {word}"


def _asks_before_it_shows(lesson: Lesson) -> Iterator[str]:
    """Yield a sentence per fault in how a lesson asks for predictions.

    Faults are: fewer than 2 or more than 4 predictions, in two sittings 6; an unknown question; one
    that is revealed but not predicted before, or never revealed; a prediction that is filled in; no
    `course.ledger`.
    """
    predicted, revealed = lesson.positions("predict"), lesson.positions("reveal")
    most = MOST_PREDICTIONS[lesson.sittings - 1]
    if not 2 <= len(predicted) <= most:
        yield f"it asks for {len(predicted)} predictions; 2 to {most} are wanted"
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
    """Yield a sentence if no task is checked, and per check that is not preceded as it must be.

    Above a check must be its task and, between the two, a cell tagged as the reader's turn. Yield
    one, too, if the lesson shows the course's change before the first check.
    """
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
    """Yield a sentence per "line" in the prose that does not say what kind of line it is."""
    for cell in lesson.prose:
        prose = re.sub(CODE, "", cell.source, flags=re.DOTALL)
        for word in re.finditer(r"\blines?\b", prose, flags=re.IGNORECASE):
            if not re.search(WHICH_LINE + r"$", prose[: word.start()], flags=re.IGNORECASE):
                around = prose[max(0, word.start() - 25) : word.end() + 10].replace("\n", " ")
                yield f"cell {cell.position} says 'line' alone: …{around}…"


def _links_to_what_exists(lesson: Lesson) -> Iterator[str]:
    """Yield a sentence per link to a file that does not exist."""
    for cell in lesson.prose:
        prose = re.sub(CODE, "", cell.source, flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
            if not (NOTEBOOKS / target).exists():
                yield f"cell {cell.position} links to {target}, which does not exist"


def _parses(lesson: Lesson) -> Iterator[str]:
    """Yield a sentence per code cell after the first that is not valid Python."""
    for cell in lesson.code[1:]:
        try:
            ast.parse(cell.source)
        except SyntaxError as error:
            yield f"cell {cell.position} is not valid Python: {error.msg}"


def _gives_away(lesson: Lesson, answers: dict[str, object]) -> Iterator[str]:
    """Yield a sentence for each cell that gives away the answer of a question.

    answers: question's name -> measured answer; orders are not looked for. No cell may show the
    answer above the question, and no prose may say it above the `reveal`.
    """
    predicted, revealed = lesson.positions("predict"), lesson.positions("reveal")
    for name, value in answers.items():
        find = _finder(bank()[name], value) if name in predicted else None
        if find is None:
            continue
        for cell in lesson.cells[: revealed.get(name, 1) - 1]:
            text = cell.source if cell.kind == "markdown" else ""
            text += text_of(cell.shown) if cell.position <= predicted[name] else ""
            if words := find(text):
                yield f"cell {cell.position} gives the answer of {name} away: {words}"


def is_number(value: object) -> bool:
    """Return True for an answer that is a number."""
    return isinstance(value, int | float)


def _finder(question: Question, value: object) -> Callable[[str], str | None] | None:
    """Return a function that returns the words in a text that say an answer, or None.

    The result is None if nobody can tell whether a text says the answer, as for an order.
    """
    if is_number(value):
        pattern = _spellings(value, question.unit)
        return lambda text: (match := pattern.search(text)) and match[0]
    if question.choices:
        return partial(_saying, question, str(value))
    return None


def _saying(question: Question, answer: str, text: str) -> str | None:
    """Return the sentence in a text that gives a choice as the answer of a question, or None.

    It has the choice, no other one, and at least half of the longer words of the question.
    """
    topic = set(re.findall(r"\w{4,}|\d+", question.text.lower())) - set(answer.lower().split())
    others = [_whole(other) for other in question.choices if other != answer]
    for sentence in re.split(r"(?<=[.?!:])\s|\n", text):
        found = _whole(answer).search(sentence)
        if found and not any(other.search(sentence) for other in others):
            said = topic & set(re.findall(r"\w{4,}|\d+", sentence.lower()))
            if topic and len(said) >= len(topic) / 2:
                return sentence.strip()
    return None


def _whole(words: str) -> re.Pattern:
    """Return a pattern that finds words as a whole, not as a part of others."""
    return re.compile(rf"(?<![\w.,]){re.escape(words)}(?![\w]|[.,]\d)", re.IGNORECASE)


def _shows_small_tables(lesson: Lesson) -> Iterator[str]:
    """Yield a sentence per output table with more than 8 rows or 5 columns."""
    for cell in lesson.cells:
        for rows, columns in tables_of(cell.shown):
            if rows > MOST_ROWS or columns > MOST_COLUMNS:
                yield f"cell {cell.position} shows a table of {rows} rows and {columns} columns"


def _describes_its_pictures(lesson: Lesson) -> Iterator[str]:
    """Yield a sentence per picture in the outputs without an alternative text."""
    for cell in lesson.cells:
        for tag in re.findall(r"<(?:img|svg)\b[^>]*>", cell.shown):
            if not re.search(r'(?:alt|aria-label|aria-labelledby)="[^"]+|aria-hidden="true"', tag):
                yield f"cell {cell.position} shows a picture without words: {tag[:60]}"


def _names_no_machine(lesson: Lesson) -> Iterator[str]:
    """Yield a sentence per cell whose output has an absolute path."""
    for cell in lesson.cells:
        if match := _PATH.search(text_of(cell.shown)):
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
    *rewriting_rules.RULES,
)
SHOWN_RULES: tuple[Rule, ...] = (
    _shows_small_tables,
    _describes_its_pictures,
    _names_no_machine,
    *rewriting_rules.SHOWN_RULES,
)
# The names of the rules that a lesson may break as long as it is not rewritten.
EXCEPTABLE = tuple(
    map(name_of, (*rewriting_rules.RULES, *rewriting_rules.SHOWN_RULES))
)


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
