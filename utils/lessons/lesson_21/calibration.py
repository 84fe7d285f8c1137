"""The reader's predictions in all lessons, and their errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import geometric_mean

from utils.lessons import ledger_file
from utils.lessons.cards import Card
from utils.lessons.predictions import ledger
from utils.lessons.questions import bank, question


@dataclass(frozen=True)
class WholeLedger:
    """A card on the errors of the reader's predictions, and a table of predictions per lesson.

    `card` is that of `calibration`. `lessons` are the numbers of the lessons, such as "05". A
    notebook shows the tables folded.
    """

    card: Card
    lessons: tuple[str, ...]

    def __str__(self) -> str:
        return "\n\n".join([str(self.card), *(str(ledger(lesson)) for lesson in self.lessons)])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        folded = "".join(
            f"<details><summary>Lesson {lesson}: {_made(lesson)}</summary>"
            f"{ledger(lesson)._repr_html_()}</details>"
            for lesson in self.lessons
        )
        return self.card._repr_html_() + f'<div class="course">{folded}</div>'


def whole_ledger() -> WholeLedger:
    """Return the card and the tables of all predictions of the reader, for a notebook to show.

    Lessons without a prediction of the reader have no table.
    """
    given = (name for name, one in ledger_file.entries().items() if one.value is not None)
    lessons = {name.partition(".")[0] for name in given if name in bank()}
    return WholeLedger(calibration(), tuple(sorted(lessons)))


def calibration() -> Card:
    """Return a card with the mean error factor of numbers, and the number of right choices.

    Orders count as choices. Only predictions whose answer was revealed count; without any the card
    says so. The factor is a geometric mean: a prediction that is twice too high and one that is
    half as high both count as 2.
    """
    done = _done()
    if not done:
        return Card("ask", (
            "There are no predictions of yours yet, or their answers were not revealed. Each "
            "lesson keeps those that you write into its `predict` cells.",
        ))  # fmt: skip
    sentences = [f"Predictions that have their answer: {len(done)}."]
    factors = _factors(done)
    if factors:
        within = sum(factor <= 2 for factor in factors)
        sentences.append(
            f"Numbers: off by a factor of {geometric_mean(factors):.2f} on average (the geometric "
            f"mean), {within} of {len(factors)} within a factor of 2."
        )
    choices = [one.value == one.measured for name, one in done.items() if _is_choice(name)]
    if choices:
        sentences.append(f"Choices and orders: {sum(choices)} of {len(choices)} right.")
    return Card("good", tuple(sentences))


def _done() -> dict[str, ledger_file.Entry]:
    """Return question's name -> entry for the reader's predictions whose answer was revealed."""
    return {
        name: one for name, one in ledger_file.entries().items()
        if name in bank() and one.revealed and one.value is not None
    }  # fmt: skip


def _is_choice(name: str) -> bool:
    """Return True if the answer to this question is a choice or an order, False for a number."""
    prompt = question(name)
    return bool(prompt.choices or prompt.order)


def _factors(done: Mapping[str, ledger_file.Entry]) -> list[float]:
    """Return the error factors of the predictions that are numbers.

    Predictions without an error factor are left out.
    """
    factors = (_factor(one) for name, one in done.items() if not _is_choice(name))
    return [factor for factor in factors if factor is not None]


def _factor(entry: ledger_file.Entry) -> float | None:
    """Return the error factor: the larger of prediction and measured answer over the smaller.

    Return None if one of the two is not above 0.
    """
    if min(entry.value, entry.measured) <= 0:
        return None
    return max(entry.value / entry.measured, entry.measured / entry.value)


def _made(lesson: str) -> str:
    """Return text on a lesson such as "3 of 4 predicted, off by a factor of 1.50".

    The factor is the geometric mean over revealed numbers. Without such numbers it is left out.
    """
    names = [name for name in bank() if name.partition(".")[0] == lesson]
    entries = ledger_file.entries()
    made = sum(entries.get(name, ledger_file.Entry()).value is not None for name in names)
    factors = _factors({name: one for name, one in _done().items() if name in names})
    off = f", off by a factor of {geometric_mean(factors):.2f}" if factors else ""
    return f"{made} of {len(names)} predicted{off}"
