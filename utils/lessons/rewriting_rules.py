"""The rules of a rewritten lesson: its first screen, length, tasks, and wording.

The rules that a lesson still breaks are in `rule_exceptions.toml`, so a lesson that is rewritten
leaves this list and must keep them from then on. Each rule is a function that takes a Lesson and
yields a sentence per violation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from utils.lessons.first_cell import without_setup
from utils.lessons.lesson_text import YOUR_TURN, Lesson, Words, prose_of, words_of
from utils.lessons.questions import bank

MOST_WORDS_BEFORE_A_TURN = 600
MOST_WORDS, MOST_FOLDED_WORDS = 2200, 600  # of a sitting
MORE_TRANSLATED = 1.2  # as a factor: Spanish and French need more words than English
LEAST_TASKS = 3
MOST_OPEN_QUESTIONS = 1
MOST_BRACKETED_WORDS = 8
GOALS = ("After this lesson you can", "**Time:**", "You need")
UNEXPLAINED = re.compile(
    r"\brecords? (?:does|do) not say\b|\b(?:does|do) not explain\b", re.IGNORECASE
)


def begins_with_a_question(lesson: Lesson) -> Iterator[str]:
    """Yield a sentence per way in which a lesson does not begin as it should.

    It should begin with a title and one sentence, the set-up cell, a picture, and a cell with the
    goals, the minutes and what the reader needs.
    """
    kinds = [cell.kind for cell in lesson.cells[:4]]
    if kinds != ["markdown", "code", "code", "markdown"]:
        yield "it does not begin with title and question, set-up, picture, and goals"
        return
    opening, _, picture, goals = lesson.cells[:4]
    _, *below = filter(None, without_setup(opening.source).split("\n\n"))
    if len(below) != 1 or len(re.findall(r"[.?!](?=\s|$)", below[0].strip("*_ "))) != 1:
        yield "its title is not followed by exactly one sentence, the question"
    if YOUR_TURN in picture.tags or re.search(r"course\.predict\(|\bcheck\(", picture.source):
        yield "no picture follows its set-up cell"
    lines = [line for line in goals.source.splitlines() if line.strip()]
    if len(lines) > 2 or not all(phrase in goals.source for phrase in GOALS):
        yield "goals, minutes and what is needed are not in two lines below the picture"


def lets_the_reader_write_early(lesson: Lesson) -> Iterator[str]:
    """Yield a sentence if the first cell for the reader's code comes too late in a lesson.

    At most 600 visible words may be before it, and it must be in the first third of the cells.
    There is one sentence per broken condition.
    """
    turns = [cell.position for cell in lesson.code if YOUR_TURN in cell.tags]
    first = min(turns, default=len(lesson.cells) + 1)
    before = [words_of(cell) for cell in lesson.prose if cell.position < first]
    words = sum(one.visible for one in before)
    if words > MOST_WORDS_BEFORE_A_TURN:
        yield f"{words} words stand before the reader's first turn; {MOST_WORDS_BEFORE_A_TURN} may"
    if 3 * first > len(lesson.cells):
        yield f"the reader's first turn is cell {first} of {len(lesson.cells)}; a third is wanted"


def has_three_tasks(lesson: Lesson) -> Iterator[str]:
    """Yield a sentence if a lesson checks fewer than three tasks."""
    tasks = lesson.positions("check")
    if len(tasks) < LEAST_TASKS:
        yield f"it checks {len(tasks)} tasks of the reader; {LEAST_TASKS} are wanted"


def explains_its_answers(lesson: Lesson) -> Iterator[str]:
    """Yield a sentence for each question without the arithmetic that leads to its answer."""
    for name in lesson.positions("predict"):
        if name in bank() and not bank()[name].because:
            yield f"the question {name} has no `because` with the arithmetic of its answer"


def hides_its_choices(lesson: Lesson) -> Iterator[str]:
    """Yield a sentence for each cell of code that gives away the answer of a question with choices.

    Such a cell is above or is the cell of the `reveal`, and has exactly one of the choices in
    quotes. A choice that is a number is not looked for, because the code may need it for something
    else.
    """
    for name, position in lesson.positions("reveal").items():
        choices = bank()[name].choices if name in bank() else ()
        words = {choice for choice in choices if not choice.isdigit()}
        for cell in lesson.code:
            quoted = {choice for choice in words if f'"{choice}"' in cell.source}
            if cell.position <= position and len(quoted) == 1:
                yield f"cell {cell.position} gives the answer of {name} away: {quoted.pop()}"


def has_one_open_question(lesson: Lesson) -> Iterator[str]:
    """Yield a sentence if a lesson has several open questions, and one for each unexplained point.

    A point is unexplained if the prose says "the record does not say" or "does not explain".
    """
    prose = prose_of(lesson)
    count = sum(len(re.findall(r"\bopen questions?\b", text, re.IGNORECASE)) for _, text in prose)
    if count > MOST_OPEN_QUESTIONS:
        yield f"it has {count} open questions; {MOST_OPEN_QUESTIONS} is allowed"
    for position, text in prose:
        for match in UNEXPLAINED.finditer(text):
            yield f"cell {position} says '{match[0]}'"


def has_short_brackets(lesson: Lesson) -> Iterator[str]:
    """Yield a sentence for each pair of brackets in the prose with more than eight words."""
    for position, text in prose_of(lesson):
        for inner in re.findall(r"\(([^()]*)\)", text):
            if len(inner.split()) > MOST_BRACKETED_WORDS:
                yield f"cell {position} has {len(inner.split())} words in brackets: ({inner[:40]}…)"


def fits_its_sittings(lesson: Lesson) -> Iterator[str]:
    """Yield a sentence if the executed page has too many words, and one if its folds have too many.

    A sitting has at most 2,200 visible words, and 600 more in folds. A translation may have a fifth
    more of both.
    """
    words = sum(map(words_of, lesson.cells), Words())
    count = lesson.sittings
    for kind, number, most in (
        ("words", words.visible, MOST_WORDS),
        ("words in folds", words.folded, MOST_FOLDED_WORDS),
    ):
        allowed = count * most * (MORE_TRANSLATED if "." in lesson.name else 1)
        if number > allowed:
            yield f"its page has {number} {kind}; in {count} sittings {allowed:.0f} are allowed"


RULES = (
    begins_with_a_question,
    lets_the_reader_write_early,
    has_three_tasks,
    explains_its_answers,
    hides_its_choices,
    has_one_open_question,
    has_short_brackets,
)
SHOWN_RULES = (fits_its_sittings,)
