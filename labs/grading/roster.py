"""The list of a class: which student a file belongs to, who handed in nothing, which try counts.

A roster is a CSV with headings: a list with a column `student`, or an export of Canvas' or Moodle's
grades, whose headings are kept. A file belongs to the student whose row has the file's name, or the
number that Canvas and Moodle put into the file names of a download.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path

from labs.grading.decoding import decoded
from labs.grading.grade import Mark
from labs.grading.submissions import Submission
from utils.errors import CourseError

HANDED_IN = "handed_in"  # the column with dates
# The columns by which a file finds its row, in the order in which they are tried.
KEYS = (
    "student", "Identifier", "ID", "Username", "SIS Login ID", "SIS User ID", "ID number",
    "Email address", "Full name", "Student",
)  # fmt: skip
NAMES = ("student", "Student", "Full name")  # what the table calls a student
TRIES = ("last", "best")
DAY = timedelta(days=1)
_PARTICIPANT = "Participant "  # before the number in Moodle's worksheet
_POSSIBLE = "Points Possible"  # the second row of Canvas' export
# How the names in a download begin. What follows may be the name that the student gave the file.
_CANVAS = re.compile(r"(?P<name>[^_]+)_(?:LATE_)?(?P<id>\d+)_\d+_")
_MOODLE = re.compile(r"(?P<name>.+?)_(?P<id>\d+)_(?:assignsubmission|onlinetext)")
_DOWNLOAD = re.compile(r"(?P<name>.+?) ?\(\d+\)")  # as a browser calls a second file of one name
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:?\d{2})?")


@dataclass(frozen=True)
class Listed:
    """One row of a roster. cells: pairs of a heading and a cell, in the order of the columns."""

    cells: tuple[tuple[str, str], ...]

    def cell(self, heading: str) -> str:
        """Return the cell below a heading, or "" if there is none."""
        return dict(self.cells).get(heading, "")

    @cached_property
    def name(self) -> str:
        """The student's name: the first cell that is not empty in the columns `NAMES`.

        Without such a cell, it is the first and the last name with a space between them, or else
        the first cell of the row.
        """
        full = f"{self.cell('First name')} {self.cell('Last name') or self.cell('Surname')}".strip()
        return next((self.cell(one) for one in NAMES if self.cell(one)), full or self.cells[0][1])

    @cached_property
    def keys(self) -> frozenset[str]:
        """The texts in lower case by which a file's name can identify this row.

        They are the name and the cells in the columns `KEYS` that are not empty. The word
        "Participant" that Moodle puts before its number is left out.
        """
        cells = [self.cell(one).removeprefix(_PARTICIPANT) for one in KEYS]
        return frozenset(one.casefold() for one in (*cells, self.name) if one)

    def numbers(self, heading: str) -> tuple[str, str]:
        """Return two cells that may hold the number that a platform puts into file names.

        The first is the one below `heading`, without the word "Participant" before the number. The
        second is that of the column `student`. Each is "" if the row has no such cell. heading: the
        column with this number in the platform's own export.
        """
        return self.cell(heading).removeprefix(_PARTICIPANT), self.cell("student")


@dataclass(frozen=True)
class LateRule:
    """How late work and several tries count.

    due: when the work is due, or None. per_day: the percentage of a lab's points that each started
    day costs. tries: "last" or "best", the try that counts.
    """

    due: datetime | None = None
    per_day: int = 0
    tries: str = TRIES[0]


@dataclass(frozen=True)
class Result:
    """What one student has reached.

    listed: the row of the roster, or None if the student is in no row. student: the name for the
    table. mark: the mark that counts, or None if nothing was handed in. points: its points after
    the loss for being late. days_late: how many days late it was. date: when it was handed in, or
    None if unknown. tries: the number of tries in which something can be read, or of all tries if
    nothing can be read.
    """

    listed: Listed | None
    student: str
    mark: Mark | None
    points: int
    days_late: int = 0
    date: datetime | None = None
    tries: int = 0


def read_roster(file: Path) -> tuple[Listed, ...]:
    """Return the rows of a roster in their order, without empty rows and Canvas' row of points.

    The cells may be separated by commas, semicolons or tabs. Raises CourseError if the file cannot
    be read, has none of the known columns, has no student, or has the same row twice.
    """
    try:
        text = decoded(file.read_bytes())
    except OSError as error:
        raise CourseError(f"The roster {file} cannot be read: {error.strerror}.") from None
    if text is None:
        raise CourseError(f"The roster {file} is no text: save it as CSV in UTF-8.")
    heading = text.partition("\n")[0]
    separator = max(",;\t", key=heading.count)
    headings, *rows = [
        [cell.strip() for cell in row]
        for row in csv.reader(io.StringIO(text.lstrip("\ufeff")), delimiter=separator)
    ] or [[]]
    if not set(headings) & {*KEYS, "First name"}:
        raise CourseError(
            f"The roster {file} has none of the columns {', '.join(KEYS)}: its first line must "
            "have the headings."
        )
    listed = [
        Listed(tuple(zip(headings, row, strict=False)))
        for row in rows
        if any(row) and row[0] != _POSSIBLE
    ]
    if not listed:
        raise CourseError(f"The roster {file} has no student.")
    twice = [one for one, count in Counter(one.cells for one in listed).items() if count > 1]
    if twice:
        raise CourseError(f"The roster {file} has a row twice: {dict(twice[0])}.")
    return tuple(listed)


def owner(submission: Submission, roster: Sequence[Listed]) -> Listed | None:
    """Return the row of the roster to which a submission belongs, or None if it is unknown.

    The texts in the file's name are tried from the most to the least certain; the first that fits
    exactly one row decides.
    """
    return next(iter(rows_of(submission, roster)), None)


def rows_of(submission: Submission, roster: Sequence[Listed]) -> tuple[Listed, ...]:
    """Return the rows to which the texts in a submission's name lead, the most certain one first.

    A text leads to a row if it fits no other row. There are two or more rows if the number and the
    name that Canvas or Moodle puts into a file's name belong to different students.
    """
    fitting = [
        [row for row in roster if fits(row)]
        for fits in _tests_of(submission.name or submission.student)
    ]
    return tuple(dict.fromkeys(rows[0] for rows in fitting if len(rows) == 1))


def _tests_of(name: str) -> Iterator[Callable[[Listed], bool]]:
    """Yield functions that return True if a text in a file's name fits a row of the roster.

    The most certain one comes first. In a name from a download of Canvas or Moodle, only the
    beginning counts, because the student may have chosen the end.
    """
    yield lambda row: name.casefold() in row.keys
    if canvas := _CANVAS.match(name):
        yield lambda row: canvas["id"] in row.numbers("ID")
        yield lambda row: canvas["name"].casefold() == _without_signs(row.name)
    elif moodle := _MOODLE.match(name):
        yield lambda row: moodle["id"] in row.numbers("Identifier")
        yield lambda row: moodle["name"].casefold() in row.keys
    elif download := _DOWNLOAD.fullmatch(name):
        yield lambda row: download["name"].casefold() in row.keys


def name_for_moodle(submission: Submission, file: str) -> str | None:
    """Return the name with which Moodle gives a file back to a student; None without a number.

    Moodle knows the student by the number that it put into the name of the download.
    """
    named = _MOODLE.match(submission.name)
    return f"{named['name']}_{named['id']}_assignsubmission_file_{file}" if named else None


def _without_signs(name: str) -> str:
    """Return a name as Canvas puts it into file names: lower case, without spaces and signs."""
    return re.sub(r"[\W_]", "", name).casefold()


def handed_in(submission: Submission, listed: Listed | None) -> datetime | None:
    """Return when a submission was handed in, as a datetime without a time zone.

    It is the date with which the name of its folder begins, or else the one in the roster's column
    `handed_in`; None if there is neither. A date without a time is the day's last second, as in
    `date_of`. Raises CourseError for a date that does not exist, or a cell that is no date.
    """
    named = _DATE.match(submission.folder)
    text = named[0] if named else listed.cell(HANDED_IN) if listed else ""
    if not text:
        return None
    return date_of(text, f"the roster's row of {listed.name}" if listed else submission.folder)


def date_of(text: str, where: str) -> datetime:
    """Return a text such as 2026-11-20 or 2026-11-20T18:30 as a datetime without a time zone.

    Without a time, it is the day's last second. Raises CourseError for any other text. where: a
    phrase for the message on where the text is.
    """
    try:
        date = datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        raise CourseError(
            f"{text!r} in {where} is no date: write 2026-11-20, or 2026-11-20T18:30."
        ) from None
    return date if len(text) > len("2026-11-20") else date + DAY - timedelta(seconds=1)


def days_late(date: datetime | None, due: datetime | None) -> int:
    """Return the number of days that started after `due`; 0 if none did, or if a date is None."""
    return max(0, math.ceil((date - due) / DAY)) if date and due else 0


def results(
    roster: Sequence[Listed],
    submissions: Sequence[Submission],
    marks: Mapping[str, Mark],
    rule: LateRule,
) -> list[Result]:
    """Return one result per row of a roster, in its order, and then those of students in no row.

    submissions: all tries, earlier ones before later ones. marks: maps the `student` of a
    submission to its mark. Submissions in no row with the same name belong to one student. Raises
    CourseError if a date cannot be read.
    """
    tries: dict[Listed | str, list[Submission]] = {one: [] for one in roster}
    for submission in submissions:
        whose = owner(submission, roster) or submission.name or submission.student
        tries.setdefault(whose, []).append(submission)
    return [_result(one, own, marks, rule) for one, own in tries.items()]


def _result(
    whose: Listed | str, tries: Sequence[Submission], marks: Mapping[str, Mark], rule: LateRule
) -> Result:
    """Return the result of one student, by the latest or the best of several tries.

    A try in which nothing can be read counts only if that is so in all tries: Moodle makes one of
    the text that a student writes beside the files. The rule says which try counts. Of tries with
    equally many points, the earliest is the best. Without any try, the result has no mark. whose:
    the row of the roster, or the name without a row. tries: the submissions of this student. marks:
    maps the name of a submission's student to its mark.
    """
    listed = whose if isinstance(whose, Listed) else None
    name = listed.name if listed else whose
    readable = [one for one in tries if not one.problem] or tries
    dated = [(handed_in(one, listed), marks[one.student]) for one in readable]
    late = [(days_late(date, rule.due), date, mark) for date, mark in dated]
    candidates = [
        Result(listed, name, mark, after(mark, days, rule.per_day), days, date, len(dated))
        for days, date, mark in sorted(late, key=lambda one: one[1] or datetime.min)
    ]
    if not candidates:
        return Result(listed, name, None, 0)
    return candidates[-1] if rule.tries == "last" else max(candidates, key=lambda one: one.points)


def after(mark: Mark, days: int, per_day: int) -> int:
    """Return the points of a mark after the loss for late work, at least 0.

    days: the days that it is late. per_day: the percentage of the maximum that each of them costs.
    The loss is rounded up.
    """
    return max(0, mark.points - math.ceil(mark.of * per_day * days / 100))
