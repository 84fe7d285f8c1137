"""Checks that secrets, names and marks stay outside the course's folder."""

from __future__ import annotations

import os
from pathlib import Path

from utils.errors import CourseError
from utils.paths import ROOT

SECRET = "COURSE_SECRET"


def secret_of(file: Path | None) -> str:
    """Return the secret of a class: the text of a file without surrounding white space.

    If file is None, return the environment variable COURSE_SECRET. Raises CourseError if this
    variable is empty or missing, or if the file cannot be read or is inside the course's folder. An
    empty file gives "".
    """
    if file is None:
        secret = os.environ.get(SECRET, "")
        if not secret:
            raise CourseError(
                f"There is no secret: give a file by --secret, or set {SECRET}. Hidden shapes are "
                "drawn from it; make one for each class."
            )
        return secret
    require_outside(file, "--secret")
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", "it is no text")
        raise CourseError(f"The secret {file} cannot be read: {why}.") from None


def require_outside(path: Path, option: str) -> None:
    """Raise CourseError if a path is in the course's folder, which is handed out.

    option: the command-line option that gave the path.
    """
    if path.resolve().is_relative_to(ROOT.resolve()):
        raise CourseError(
            f"{option} {path} is in the folder of the course, from where it could be handed out "
            "by mistake: give a folder outside of it."
        )
