"""Write a copy of the course for students."""

from __future__ import annotations

import shutil
from pathlib import Path, PurePosixPath

from labs.exercises import EXERCISES
from labs.numbers.cases_as_data import FILE, as_json
from labs.student_copy.exercises import FORMULA, catalogue_without_hints, without_hints
from labs.student_copy.files import copied_files
from labs.student_copy.lessons import without_answers
from utils.errors import CourseError
from utils.paths import ROOT, tag

MAIN = Path(__file__).with_name("main_of_copy.py")
_CHANGED = (".ipynb", ".py", ".po", ".pot")


def write_copy(folder: Path, hints: bool = True) -> int:
    """Write a student's copy of the course into a new or empty folder; return its number of files.

    hints: False to leave out the hints of the exercises. Raises CourseError if the folder is not
    empty, or if the course has no list of its files, and OSError if the folder cannot be written.
    """
    names = copied_files()
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise CourseError(f"{folder} is not empty: give a new folder.")
    for name in names:
        _write(name, folder / name, hints)
    return sum(file.is_file() for file in folder.rglob("*"))


def _write(name: str, target: Path, hints: bool) -> None:
    """Write one file of the copy and, for a `formula.py`, the cases as a file next to it.

    name: the file's path in the course. target: its path in the copy. hints: False to leave out the
    hints of the exercises.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / name, target)
    text = changed(name, hints)
    if text is not None:
        target.write_text(text, encoding="utf-8")
    if target.name == "formula.py":
        cases = EXERCISES[target.parent.name].all_cases
        target.with_name(FILE).write_text(as_json(cases), encoding="utf-8")


def changed(name: str, hints: bool = True) -> str | None:
    """Return the text that a file gets in the copy, or None if it is copied as it is.

    The result is a text for `labs/__main__.py`, for formulas of exercises and for notebooks, even
    for a notebook without answers. Without hints, it is also a text for each `exercise.py` and for
    the catalogues of translations. name: the file's path, relative to the course. hints: False to
    leave out the hints of exercises.
    """
    path = PurePosixPath(name)
    if name == "labs/__main__.py":
        return MAIN.read_text(encoding="utf-8")
    if path.match("labs/exercises/*/formula.py"):
        return FORMULA.format(name=path.parent.name)
    text = (ROOT / name).read_text(encoding="utf-8") if path.suffix in _CHANGED else ""
    if path.match("notebooks/*.ipynb"):
        return without_answers(text, translated=bool(tag(Path(name))))
    if not hints and path.match("labs/exercises/*/exercise.py"):
        return without_hints(text)
    if not hints and path.is_relative_to("locale"):
        return catalogue_without_hints(text)
    return None
