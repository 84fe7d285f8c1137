"""The sub-command `python -m labs assignment`, which writes an nbgrader course."""

from __future__ import annotations

import argparse
import re
import secrets
import sys
from pathlib import Path

import nbformat

from labs.grading.labs import LABS, Lab, find
from labs.grading.private import require_outside, secret_of
from labs.platforms.nbgrader.cells import source
from utils.errors import CourseError
from utils.paths import ROOT

CONFIG = "nbgrader_config.py"
SECRET = "secret.txt"
_CONFIG = '''"""The configuration of this course, for its instructors. You may change it."""

import sys

sys.path.append({root!r})  # where labs is

c = get_config()
c.CourseDirectory.course_id = {course!r}
c.CourseDirectory.root = {folder!r}
c.Exchange.root = {exchange!r}  # every student must be able to reach it

# Starters are released as they are: the notebooks in source/ hold no solution.
c.ClearSolutions.enabled = False

# Submissions are graded by their text. None of their code is run, and no metadata is trusted.
c.Autograde.exporter_class = "labs.platforms.nbgrader.by_text.ByText"
c.Autograde.sanitize_preprocessors = []
c.Autograde.autograde_preprocessors = [
    "labs.platforms.nbgrader.by_text.GradedByText",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
]
c.ByText.secret_file = {secret!r}
'''


def add_to(commands) -> None:
    """Add the sub-command `assignment` to an argparse parser.

    commands: the object that `add_subparsers` returned.
    """
    parser = commands.add_parser("assignment", help="write a course for nbgrader")
    parser.description = "Write labs as assignments of nbgrader, which are graded by their text."
    parser.add_argument("labs", nargs="+", metavar="LAB", help=f"all, or {', '.join(LABS)}")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="COURSE",
        help="folder of nbgrader's course, created if needed, which no student may read",
    )  # fmt: skip
    parser.add_argument("--course", help="name of the course (default: that of the folder)")
    parser.add_argument(
        "--exchange", type=Path, default=Path("/usr/local/share/nbgrader/exchange"),
        help="folder through which nbgrader gives out and collects (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--secret", type=Path, help=f"file with the secret of this class (default: COURSE/{SECRET})"
    )
    parser.set_defaults(run=write_course)


def write_course(arguments: argparse.Namespace) -> int:
    """Write the folder of an nbgrader course, print a sentence, and return the exit code 0.

    It writes the labs' notebooks, a secret and the configuration, and keeps files that exist.
    arguments: those of the sub-command. Raises CourseError for an unknown lab, a bad name, or a
    folder that cannot be written.
    """
    names = list(LABS) if arguments.labs == ["all"] else arguments.labs
    labs = [find(name) for name in names]
    folder = arguments.out.resolve()
    require_outside(folder, "--out")
    course = arguments.course or folder.name
    if not re.fullmatch(r"[\w.-]+", course):
        raise CourseError(f"The course is called {course!r}: give it letters, digits, -, . and _.")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for lab in labs:
            _write_lab(folder, lab)
        secret = (arguments.secret or folder / SECRET).resolve()
        if arguments.secret is None and not secret.exists():
            secret.touch(mode=0o600)
            secret.write_text(secrets.token_hex() + "\n", encoding="utf-8")
        secret_of(secret)
        if not (folder / CONFIG).exists():
            (folder / CONFIG).write_text(
                _CONFIG.format(
                    root=str(ROOT), course=course, folder=str(folder),
                    exchange=str(arguments.exchange.resolve()), secret=str(secret),
                ), encoding="utf-8",
            )  # fmt: skip
    except OSError as error:
        raise CourseError(f"{folder} cannot be written: {error.strerror}.") from None
    print(f"{len(labs)} assignments of the course {course}: {folder}")
    return 0


def _write_lab(folder: Path, lab: Lab) -> None:
    """Write a lab's master notebook into the folder `source` of the course, unless it exists.

    The instructor may have changed an existing file, so it is kept, and a sentence on standard
    error says so.
    """
    file = folder / "source" / lab.name / f"{lab.name}.ipynb"
    if file.exists():
        print(f"{file} exists and is not changed.", file=sys.stderr)
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(source(lab), file)
