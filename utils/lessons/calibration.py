"""The whole ledger: the reader's predictions of all lessons, and how far off they were."""

from __future__ import annotations

import math
from dataclasses import dataclass

from utils.lessons import ledger_file
from utils.lessons.cards import Card
from utils.lessons.predictions import ledger
from utils.lessons.questions import bank, question


@dataclass(frozen=True)
class WholeLedger:
    """A card with the calibration, and a table for each lesson, folded."""

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
    """The predictions of all lessons beside the answers, and what they say together."""
    lessons = dict.fromkeys(name.partition(".")[0] for name in bank())
    return WholeLedger(calibration(), tuple(sorted(lessons)))


def calibration() -> Card:
    """How far the revealed predictions were off, as a factor, and how many choices were right.

    The factor is a geometric mean: one that is twice too high and one that is half as high both
    count as 2.
    """
    entries = ledger_file.entries()
    done = {
        name: one for name, one in entries.items()
        if name in bank() and one.revealed and one.value is not None
    }  # fmt: skip
    if not done:
        return Card("ask", (
            "There are no predictions of yours yet, or their answers were not revealed. Each "
            "lesson keeps those that you write into its `predict` cells.",
        ))  # fmt: skip
    said = [f"{len(done)} of your predictions have their answer."]
    factors = [_factor(one) for name, one in done.items() if not _is_choice(name)]
    factors = [factor for factor in factors if factor is not None]
    if factors:
        mean = math.exp(sum(map(math.log, factors)) / len(factors))
        within = sum(factor <= 2 for factor in factors)
        said.append(
            f"Of {len(factors)} numbers you were off by a factor of {mean:.2f} on average (the "
            f"geometric mean), and {within} were within a factor of 2."
        )
    choices = [one.value == one.measured for name, one in done.items() if _is_choice(name)]
    if choices:
        said.append(f"Of {len(choices)} choices and orders {sum(choices)} were right.")
    return Card("good", tuple(said))


def _is_choice(name: str) -> bool:
    asked = question(name)
    return bool(asked.choices or asked.order)


def _factor(entry: ledger_file.Entry) -> float | None:
    """At least 1; None where one of the two numbers is not above 0."""
    if min(entry.value, entry.measured) <= 0:
        return None
    return max(entry.value / entry.measured, entry.measured / entry.value)


def _made(lesson: str) -> str:
    """How many questions have a prediction."""
    names = [name for name in bank() if name.partition(".")[0] == lesson]
    entries = ledger_file.entries()
    made = sum(entries.get(name, ledger_file.Entry()).value is not None for name in names)
    return f"{made} of {len(names)} predicted"
