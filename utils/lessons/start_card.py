"""The card that a lesson shows first."""

from __future__ import annotations

import sys

from utils.compilers import choice, imports
from utils.errors import CourseError
from utils.lessons import ledger_file
from utils.lessons.cards import Card
from utils.lessons.lesson import device_shown, this_device
from utils.paths import is_extra, lessons
from utils.reader_folder import is_page
from utils.translation import translate


def start(lesson: str) -> Card:
    """Return a card on where kernels run, whose records are shown, and where predictions are kept.

    It also names the compiler, if one is installed. From now on, cells that import `cuda` from
    `numba` use it. If the lesson is executed to make a page, the card says nothing on predictions.

    lesson: its number, such as "07", or the name of an extra one. Raises CourseError if there is no
    such lesson; without any notebook of a lesson on this computer, every name is accepted.
    """
    numbers = lessons()
    if numbers and lesson not in numbers:
        raise CourseError(f"There is no lesson {lesson!r}: choose one of {', '.join(numbers)}.")
    ready = (
        translate("This extra lesson is ready.")
        if is_extra(lesson)
        else translate("Lesson {lesson} is ready.", lesson=lesson)
    )
    compiler = choice.chosen()
    imports.use_in_cells(compiler, _shell())
    sentences = [
        " ".join([ready, this_device(), *_compiled_by(compiler)]),
        translate("Recorded times of a GPU are those of one {device}.", device=device_shown().name),
    ]
    if not is_page():
        path = ledger_file.shown_path()
        sentences.append(translate("Your predictions are kept in `{path}`.", path=path))
    return Card("good", tuple(sentences))


def _shell():
    """Return the shell that runs a notebook's cells; None outside of IPython."""
    ipython = sys.modules.get("IPython")
    return ipython and ipython.get_ipython()


def _compiled_by(compiler: choice.Compiler) -> list[str]:
    """Return the sentence that names the compiler and its version; none if it is not installed."""
    if compiler.version is None:
        return []
    name = f"{compiler.name} {compiler.version}"
    return [translate("Kernels are compiled by {compiler}.", compiler=name)]
