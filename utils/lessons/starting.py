"""The card that opens a lesson."""

from __future__ import annotations

from utils.errors import CourseError
from utils.lessons import ledger_file
from utils.lessons.cards import Card
from utils.lessons.lesson import device_shown, this_device
from utils.paths import NOTEBOOKS


def start(lesson: str) -> Card:
    """Say where kernels run, whose records are shown and where predictions are kept.

    lesson: its number, such as "07". CourseError for one that does not exist.
    """
    numbers = sorted(file.name[:2] for file in NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
    if numbers and lesson not in numbers:
        raise CourseError(f"There is no lesson {lesson!r}: choose one of {', '.join(numbers)}.")
    told = [
        f"Lesson {lesson} is ready. {this_device()}",
        f"Recorded times of a GPU are those of one {device_shown().name}.",
    ]
    if not ledger_file.is_page():
        told.append(f"Your predictions are kept in `{ledger_file.shown_place()}`.")
    return Card("good", tuple(told))
