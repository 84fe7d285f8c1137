"""What a reader is asked, as a card."""

from __future__ import annotations

from labs.bank import find
from utils.lessons.cards import Card


def task(name: str) -> Card:
    """The text of an exercise, its targets, and hints that fold out one inside the other.

    Raises CourseError for a name that is no exercise.
    """
    asked = find(name)
    goals = f"Targets: {'; '.join(asked.goals)}."
    return Card("ask", (f"{asked.title}.", *asked.text, goals), asked.hints)
