"""The reader's predictions: ask for them, keep them, and compare them with measured answers."""

from __future__ import annotations

from utils.errors import CourseError
from utils.lessons import ledger_file
from utils.lessons.cards import Card, Table, table
from utils.lessons.questions import Question, bank, question
from utils.reader_folder import is_page
from utils.translation import translate

OPEN = "–"


def predict(name: str, value) -> Card:
    """Keep the reader's prediction in the file of predictions, and return a card that says so.

    value: a number, a choice, or a list in order, depending on the question. None keeps nothing,
    and the card shows the question. A prediction cannot change after its answer was revealed; the
    card then says that it stays. For a value that cannot be an answer, the card says why. Raises
    CourseError if there is no question of this name.
    """
    prompt, before = question(name), ledger_file.entries().get(name, ledger_file.Entry())
    if before.revealed and before.value is not None:
        stays = translate(
            "You have seen the answer: your prediction stays {answer}.",
            answer=prompt.as_text(before.value),
        )
        return Card("ask", (stays,))
    if before.revealed and not is_page():
        return Card("ask", (translate("You have seen this answer already, so nothing is kept."),))
    if value is None:
        asked = translate("{question}? {hint}", question=prompt.shown, hint=prompt.hint)
        return Card("ask", (asked, translate("Put it in place of `None`, and run.")))
    try:
        prediction = prompt.parse(value)
    except CourseError as error:
        return Card("bad", (str(error),))
    renamed = ledger_file.keep(name, value=prediction)
    kept = translate("Kept: {answer}. The answer comes later.", answer=prompt.as_text(prediction))
    sentences = [kept]
    if doubt := prompt.doubt(prediction):
        sentences.append(doubt)
    if renamed is None:
        return Card("ask" if doubt else "good", tuple(sentences))
    lost = translate(
        "Your file of predictions could not be read and is now `{name}`; a new one begins.",
        name=renamed.name,
    )
    return Card("good", (*sentences, lost))


def reveal(name: str, measured) -> Card:
    """Keep the measured answer, and return a card that compares it with the reader's prediction.

    Without a prediction the first call returns a card that asks for one, and the second call shows
    the answer. measured: in the form that the question asks for. Raises CourseError if there is no
    question of this name.
    """
    prompt, entry = question(name), ledger_file.entries().get(name, ledger_file.Entry())
    truth = prompt.parse(measured)
    shown = translate("{question}: {answer}.", question=prompt.shown, answer=prompt.as_text(truth))
    if is_page():
        ledger_file.keep(name, measured=truth)
        return Card("good", (shown,))
    if entry.value is None and not (entry.asked or entry.revealed):
        ledger_file.keep(name, asked=True)
        return Card("ask", (_not_yet(prompt), _go_back(name)))
    ledger_file.keep(name, measured=truth)
    if entry.value is None:
        return Card("good", (shown,))
    said = translate("You said {answer}.", answer=prompt.as_text(entry.value))
    return Card("good", (shown, f"{said} {prompt.feedback(entry.value, truth)}"))


def _not_yet(prompt: Question) -> str:
    text = prompt.shown
    if text == prompt.text:  # an English noun is not capitalised within a sentence
        text = f"{text[:1].lower()}{text[1:]}"
    return translate("There is no prediction of yours yet: {question}?", question=text)


def _go_back(name: str) -> str:
    return translate(
        "Go back to `predict({name!r}, …)`, or run this cell once more to see the answer.",
        name=name,
    )


def ledger(lesson: str | None = None) -> Table:
    """Return a table of the predictions and the answers of a lesson, or of all lessons.

    lesson: its number, such as "05"; None for all. Answers that are not revealed yet stay hidden.
    Raises CourseError if the lesson has no questions.
    """
    entries, rows = ledger_file.entries(), []
    for name, prompt in bank().items():
        entry = entries.get(name, ledger_file.Entry())
        if lesson is not None and name.partition(".")[0] != lesson:
            continue
        mine = OPEN if entry.value is None else prompt.as_text(entry.value)
        rows.append(
            (prompt.shown, mine, prompt.as_text(entry.measured) if entry.revealed else OPEN)
        )
    if not rows:
        raise CourseError(f"Lesson {lesson!r} asks nothing; lessons have numbers such as '05'.")
    note = (
        ""
        if is_page()
        else translate("Kept in `{path}`; delete it to begin anew.", path=ledger_file.shown_path())
    )
    return table("Your predictions", ("question", "you", "answer"), rows, note)
