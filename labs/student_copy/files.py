"""The files of the course, and those that a copy for students leaves out."""

from __future__ import annotations

import os
import subprocess
from importlib import metadata
from pathlib import Path, PurePosixPath

from utils.errors import CourseError
from utils.paths import ROOT

PROJECT = "numba-gpu-kernels"
# For instructors, and for those who work on the course.
FOLDERS = (
    ".ci", ".github", "labs/grading", "labs/guide", "labs/platforms", "labs/sessions",
    "labs/student_copy", "site", "tests", "tools",
)  # fmt: skip
FILES = ("CONTRIBUTING.md", "conftest.py", "labs/GUIDE.md", "labs/README.md")
# In the folder of an exercise; all other files there are left out, too.
OF_AN_EXERCISE = ("__init__.py", "exercise.py", "formula.py", "mistakes.json", "starter.py")


def copied_files() -> list[str]:
    """Return a sorted list of the files that a student's copy has, relative to the course's folder.

    Raises CourseError if git cannot list the files, or if the course is neither a git clone nor
    installed from a wheel.
    """
    return [name for name in course_files() if not is_left_out(name)]


def is_left_out(name: str) -> bool:
    """Return True for a file that students do not get; name: its path, relative to the course."""
    path = PurePosixPath(name)
    if name in FILES or "tests" in path.parts or any(map(path.is_relative_to, FOLDERS)):
        return True
    return path.match("labs/exercises/*/*") and path.name not in OF_AN_EXERCISE


def course_files() -> list[str]:
    """Return a sorted list of all files of the course, relative to its folder.

    They are those that git tracks, or those of the wheel. Raises CourseError if neither is known,
    or if git cannot list them.
    """
    names = _tracked() if (ROOT / ".git").exists() else _installed()
    found = sorted(name for name in names if (ROOT / name).is_file())
    if not found:
        raise CourseError(
            f"{ROOT} is neither a clone nor an installed wheel, so there is no list of the "
            "course's files: clone the course with git."
        )
    return found


def _tracked() -> list[str]:
    """Return the paths of the files that git tracks, relative to the course.

    Raises CourseError if git cannot list them.
    """
    command = ["git", "ls-files", "-z"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise CourseError(f"git cannot list the files of {ROOT}: {error}.") from None
    return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]


def _installed() -> list[str]:
    """Return the paths of the installed wheel's files, relative to the course.

    Compiled files and the wheel's own metadata are left out. Returns [] if the course is not
    installed.
    """
    try:
        files = metadata.files(PROJECT) or []
    except metadata.PackageNotFoundError:
        return []
    places = (Path(file.locate()).resolve() for file in files)
    names = [place.relative_to(ROOT) for place in places if place.is_relative_to(ROOT)]
    return [
        name.as_posix()
        for name in names
        if name.suffix != ".pyc" and not name.parts[0].endswith(".dist-info")
    ]
