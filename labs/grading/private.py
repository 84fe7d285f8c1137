"""What lies outside of the course's folder: secrets, names and marks."""

from __future__ import annotations

import os
from pathlib import Path

from utils.errors import CourseError
from utils.paths import ROOT

SECRET = "COURSE_SECRET"


def secret_of(file: Path | None) -> str:
    """The secret of a class: the text of a file, or without one the variable COURSE_SECRET.

    Raises CourseError where there is none, or the file lies in the folder of the course.
    """
    if file is None:
        secret = os.environ.get(SECRET, "")
        if not secret:
            raise CourseError(
                f"There is no secret: give a file by --secret, or set {SECRET}. Hidden shapes are "
                "drawn from it; make one for each class."
            )
        return secret
    outside(file, "--secret")
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", "it is no text")
        raise CourseError(f"The secret {file} cannot be read: {why}.") from None


def outside(path: Path, option: str) -> None:
    """Raises CourseError for a path in the folder of the course, which is handed out."""
    if path.resolve().is_relative_to(ROOT.resolve()):
        raise CourseError(
            f"{option} {path} lies in the folder of the course, from where it could be handed out "
            "by mistake: give a folder outside of it."
        )
