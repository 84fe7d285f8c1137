"""Say first, then see: predictions, what was measured, and how far the two were apart."""

from __future__ import annotations

from utils.errors import CourseError
from utils.lessons import ledger_file
from utils.lessons.cards import Card, Table, table
from utils.lessons.questions import bank, question

OPEN = "–"


def predict(name: str, value) -> Card:
    """Keep a prediction; None asks for one. What was said before the answer was seen stays.

    value: a number, a choice, or a list in an order, as the question asks. CourseError for a name
    that nothing is asked under.
    """
    asked, before = question(name), ledger_file.entries().get(name, ledger_file.Entry())
    if before.revealed and before.value is not None:
        return Card("ask", (f"You have seen the answer: your prediction stays {_said(name)}.",))
    if before.revealed and not ledger_file.is_page():
        return Card("ask", ("You have seen this answer already, so nothing is kept.",))
    if value is None:
        return Card("ask", (f"{asked.text}? {asked.wanted}", "Put it in place of `None`, and run."))
    try:
        kept = asked.accepted(value)
    except CourseError as error:
        return Card("bad", (str(error),))
    aside = ledger_file.keep(name, value=kept)
    told = [f"Kept: {asked.said(kept)}. The answer comes later."]
    if doubt := asked.doubted(kept):
        told.append(doubt)
    if aside is None:
        return Card("ask" if doubt else "good", tuple(told))
    lost = (
        f"Your file of predictions could not be read and is now `{aside.name}`; a new one begins."
    )
    return Card("good", (*told, lost))


def reveal(name: str, measured) -> Card:
    """What was measured, beside the prediction. Without one it asks once, and then shows.

    measured: in the form that the question asks for.
    """
    asked, entry = question(name), ledger_file.entries().get(name, ledger_file.Entry())
    truth = asked.accepted(measured)
    shown = f"{asked.text}: {asked.said(truth)}."
    if ledger_file.is_page():
        ledger_file.keep(name, measured=truth)
        return Card("good", (shown,))
    if entry.value is None and not (entry.asked or entry.revealed):
        ledger_file.keep(name, asked=True)
        return Card(
            "ask",
            (
                f"There is no prediction of yours yet: {asked.text[:1].lower()}{asked.text[1:]}?",
                f"Go back to `predict({name!r}, …)`, or run this cell once more to see the answer.",
            ),
        )
    ledger_file.keep(name, measured=truth)
    if entry.value is None:
        return Card("good", (shown,))
    told = f"You said {asked.said(entry.value)}. {asked.compared(entry.value, truth)}"
    return Card("good", (shown, told))


def ledger(lesson: str | None = None) -> Table:
    """The predictions of a lesson beside the answers; of all lessons without a number.

    What was not revealed yet stays hidden.
    """
    kept, rows = ledger_file.entries(), []
    for name, asked in bank().items():
        entry = kept.get(name, ledger_file.Entry())
        if lesson is not None and name.partition(".")[0] != lesson:
            continue
        mine = OPEN if entry.value is None else asked.said(entry.value)
        rows.append((asked.text, mine, asked.said(entry.measured) if entry.revealed else OPEN))
    if not rows:
        raise CourseError(f"Lesson {lesson!r} asks nothing; lessons have numbers such as '05'.")
    note = (
        ""
        if ledger_file.is_page()
        else f"Kept in `{ledger_file.shown_place()}`; delete it to begin anew."
    )
    return table("Your predictions", ("question", "you", "answer"), rows, note)


def _said(name: str) -> str:
    return question(name).said(ledger_file.entries()[name].value)
