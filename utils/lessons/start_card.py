"""The card that a lesson shows first."""

from __future__ import annotations

from utils.errors import CourseError
from utils.lessons import ledger_file
from utils.lessons.cards import Card
from utils.lessons.lesson import device_shown, this_device
from utils.paths import is_extra, lessons
from utils.reader_folder import is_page
from utils.translation import translate


def start(lesson: str) -> Card:
    """Return a card on where kernels run, whose records are shown, and where predictions are kept.

    lesson: its number, such as "07", or the name of an extra one. Raises CourseError if there
    is no such lesson.
    """
    numbers = lessons()
    if numbers and lesson not in numbers:
        raise CourseError(f"There is no lesson {lesson!r}: choose one of {', '.join(numbers)}.")
    ready = (
        translate("This extra lesson is ready.")
        if is_extra(lesson)
        else translate("Lesson {lesson} is ready.", lesson=lesson)
    )
    sentences = [
        f"{ready} {this_device()}",
        translate("Recorded times of a GPU are those of one {device}.", device=device_shown().name),
    ]
    if not is_page():
        path = ledger_file.shown_path()
        sentences.append(translate("Your predictions are kept in `{path}`.", path=path))
    return Card("good", tuple(sentences))
