"""What a reader is asked, as a card."""

from __future__ import annotations

from labs.bank import find
from labs.exercise import Exercise
from utils.lessons.cards import Card


def task(name: str) -> Card:
    """The text of an exercise, its targets, and hints that fold out one inside the other.

    Raises CourseError for a name that is no exercise.
    """
    asked = find(name)
    return Card("ask", (f"{asked.title}.", *asked.text, _targets(asked)), asked.hints)


def _targets(asked: Exercise) -> str:
    words = "; ".join(target.words for target in asked.targets)
    return f"Targets: right at any shape; {words}."
