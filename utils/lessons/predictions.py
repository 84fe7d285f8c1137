"""The reader's predictions: ask for them, keep them, and compare them with measured answers."""

from __future__ import annotations

import os
from collections.abc import Mapping

from IPython import get_ipython

from utils.errors import CourseError
from utils.lessons import ledger_file
from utils.lessons.cards import Card, Fold, Paragraphs, Stack, Table, table
from utils.lessons.questions import Question, bank, question
from utils.paths import ROOT, lessons
from utils.reader_folder import is_page
from utils.translation import translate

OPEN = "–"


def predict(name: str, value) -> Card:
    """Keep the reader's prediction in the file of predictions, and return a card that says so.

    name: the question's name, such as "05.strided". value: a number, a choice, or a list in order,
    depending on the question. None keeps nothing, and the card shows the question. A prediction
    cannot change after its answer was revealed; the card then says that it stays. If the answer was
    revealed without a prediction, nothing is kept, and the card says so, unless the lesson is
    executed to make a page. If the file could not be read, the card also says that it was renamed.
    For a value that cannot be an answer, the card says why. Raises CourseError if there is no
    question of this name.
    """
    prompt, before = question(name), ledger_file.entries().get(name, ledger_file.Entry())
    if before.revealed and before.value is not None:
        stays = translate(
            "You have seen the answer: your prediction stays {answer}.",
            answer=prompt.as_text(before.value),
        )
        return Card("ask", (stays,))
    if before.revealed and not is_page():
        seen = translate(
            "You have seen this answer already, so nothing is kept. "
            "`course.begin_anew({lesson!r})` makes the predictions of this lesson new.",
            lesson=name.partition(".")[0],
        )
        return Card("ask", (seen,))
    if value is None:
        asked = translate("{question}? {hint}", question=prompt.shown, hint=prompt.hint)
        return Card("ask", (asked, translate("Put it in place of `None`, and run.")))
    try:
        prediction = prompt.parse(value)
    except CourseError as error:
        return Card("bad", (str(error),))
    renamed = ledger_file.keep(name, value=prediction)
    kept = translate("Kept: {answer}. The answer comes later.", answer=prompt.as_text(prediction))
    unit = prompt.note_on_percent(prediction)
    sentences = [kept, unit] if unit else [kept]
    if renamed is None:
        return Card("good", tuple(sentences))
    lost = translate(
        "Your file of predictions could not be read and is now `{name}`; a new one begins.",
        name=renamed.name,
    )
    return Card("good", (*sentences, lost))


def reveal(name: str, measured, below: object = None) -> Card:
    """Keep the answer, and return a card that compares it with the reader's prediction.

    Without a prediction the card only asks for one, and the answer stays hidden, with three
    exceptions: the answer was revealed before, the lesson is executed to make a page, or the same
    cell is run twice in a row. Then the card holds the answer in a closed fold. So a run of all
    cells, however often, reveals nothing. name: the question's name. measured: the answer, in the
    form that the question asks for. below: a table, picture or other object with more answers,
    which is shown and hidden together with this one. Raises CourseError if there is no question of
    this name, and if `measured` cannot be an answer to it.
    """
    prompt, entries = question(name), ledger_file.entries()
    entry = entries.get(name, ledger_file.Entry())
    truth = prompt.parse(measured)
    if below is not None and not hasattr(below, "_repr_html_"):
        below = Paragraphs((str(below),))
    shown = translate("{question}: {answer}.", question=prompt.shown, answer=prompt.as_text(truth))
    if entry.value is None and not (entry.revealed or is_page() or _is_second_run(entry)):
        ledger_file.keep(name, asked=run_of_cell())
        return _hidden(prompt, name, _has_asked(entries, name))
    ledger_file.keep(name, measured=truth)
    if entry.value is None:
        words = Paragraphs((shown, *prompt.reasons))
        answer = Stack((words, below)) if below else words
        return Card("ask", (), below=Fold(translate("Show the answer"), answer))
    sentences = (shown, prompt.feedback(entry.value, truth), *prompt.reasons)
    kind = "good" if prompt.agrees(entry.value, truth) else "ask"
    return Card(kind, sentences, below=below)


def run_of_cell(later: int = 0) -> str:
    """Return a name for the current run of a cell, such as "4711:12": process and execution count.

    later: is added to the execution count; -1 gives the name of the run before. Outside of a
    notebook, where nothing counts the runs of cells, all runs of a process have the same name.
    """
    count = getattr(get_ipython(), "execution_count", None)
    return f"{os.getpid()}" if count is None else f"{os.getpid()}:{count + later}"


def _is_second_run(entry: ledger_file.Entry) -> bool:
    """Return True if `reveal` asked for this prediction in the run just before this one."""
    return entry.asked == run_of_cell(-1)


def _has_asked(entries: Mapping[str, ledger_file.Entry], name: str) -> bool:
    """Return True if `reveal` has asked for a prediction of the same lesson in this process.

    name: the question's name.
    """
    lesson, process = name.partition(".")[0], str(os.getpid())
    return any(
        str(one.asked).partition(":")[0] == process  # files of earlier versions hold True or False
        for other, one in entries.items()
        if other.partition(".")[0] == lesson
    )


def _hidden(prompt: Question, name: str, has_asked: bool) -> Card:
    """Return the card for an answer without a prediction: it asks for one.

    has_asked: True for a short card, because an earlier one of the lesson has explained how.
    """
    if has_asked:
        return Card("ask", (translate("Hidden until you predict: `{name}`.", name=name),))
    text = prompt.shown
    starts_with_word = not text[1:2].isupper() and not text[1:2].isdigit()  # unlike UNROLL and L2
    if text == prompt.text and starts_with_word:  # not capitalised within an English sentence
        text = f"{text[:1].lower()}{text[1:]}"
    asked = translate("There is no prediction of yours yet: {question}?", question=text)
    rule = translate(
        "Go back to `predict({name!r}, …)`, write your answer, and run both cells. To see an "
        "answer without a prediction, run its cell twice in a row.",
        name=name,
    )
    return Card("ask", (asked, rule))


def begin_anew(lesson: str) -> Card:
    """Delete the reader's predictions of one lesson from the file, and return a card that says so.

    The predictions of the other lessons stay. lesson: its number, such as "07". Raises CourseError
    if the lesson has no questions.
    """
    _need_questions(lesson)
    ledger_file.forget(lesson)
    told = translate(
        "Lesson {lesson} begins anew: its predictions are forgotten, and its answers are hidden. "
        "The other lessons keep theirs.",
        lesson=lesson,
    )
    if not (ROOT / ".git").exists():
        return Card("good", (told,))
    code = translate(
        "Your code stays in the cells. To get the original notebook back, close it and run "
        "`git restore {file}` in a terminal, in the course's folder. This deletes your code.",
        file=lessons()[lesson].relative_to(ROOT).as_posix(),
    )
    return Card("good", (told, code))


def _need_questions(lesson: str) -> None:
    """Raise CourseError if a lesson has no questions."""
    if lesson not in {name.partition(".")[0] for name in bank()}:
        raise CourseError(f"Lesson {lesson!r} asks nothing; lessons have numbers such as '05'.")


def ledger(lesson: str | None = None) -> Table | Fold:
    """Return a table of the predictions and the answers of a lesson, or of all lessons.

    There is a row per question, with the question, the prediction and the answer. lesson: its
    number, such as "05"; None for all. Answers that are not revealed yet stay hidden. On a page,
    the table is in a closed fold if it has an answer without a prediction. Raises CourseError if
    the lesson has no questions.
    """
    if lesson is not None:
        _need_questions(lesson)
    entries, rows = ledger_file.entries(), []
    for name, prompt in bank().items():
        entry = entries.get(name, ledger_file.Entry())
        if lesson is not None and name.partition(".")[0] != lesson:
            continue
        mine = OPEN if entry.value is None else prompt.as_text(entry.value)
        rows.append(
            (prompt.shown, mine, prompt.as_text(entry.measured) if entry.revealed else OPEN)
        )
    note = "" if is_page() else _where_kept(lesson)
    shown = table("Your predictions", ("question", "you", "answer"), rows, note)
    if is_page() and any(mine == OPEN != answer for _, mine, answer in rows):
        return Fold(translate("Show the answers"), shown)
    return shown


def _where_kept(lesson: str | None) -> str:
    """Return text on the file of the predictions and, for one lesson, on how to delete them.

    lesson: its number, such as "05", or None.
    """
    kept = translate("Kept in `{path}`.", path=ledger_file.shown_path())
    if lesson is None:
        return kept
    anew = translate(
        "`course.begin_anew({lesson!r})` makes the predictions of this lesson new.", lesson=lesson
    )
    return f"{kept} {anew}"
