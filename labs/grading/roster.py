"""The list of a class: whose work a file is, who handed in nothing, and which try counts.

A roster is a CSV with headings: one's own with a column `student`, or an export of Canvas' or
Moodle's grades, whose headings are kept. A file belongs to the student whose row has its name, or
the number that Canvas and Moodle put into the names of what they hand over.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
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
_POSSIBLE = "Points Possible"  # the second row of Canvas' export
_MOODLE = re.compile(r"(?P<name>.+)_(?P<id>\d+)_(?:assignsubmission|onlinetext).*")
_CANVAS = re.compile(r"(?P<name>[^_]+)_(?:LATE_)?(?P<id>\d+)_\d+_.*")
_DOWNLOAD = re.compile(r"(?P<name>.+?) ?\(\d+\)")  # as a browser calls a second file of one name
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:?\d{2})?")


@dataclass(frozen=True)
class Listed:
    """One row of a roster: pairs of a heading and a cell."""

    cells: tuple[tuple[str, str], ...]

    def cell(self, heading: str) -> str:
        """Return the cell below a heading, or "" if there is none."""
        return dict(self.cells).get(heading, "")

    @property
    def name(self) -> str:
        """The student's name: the first cell in a column of NAMES that is not empty.

        Without such a cell, it is the first and the last name with a blank between them, or else
        the first cell of the row.
        """
        full = f"{self.cell('First name')} {self.cell('Last name') or self.cell('Surname')}".strip()
        return next((self.cell(one) for one in NAMES if self.cell(one)), full or self.cells[0][1])

    @property
    def keys(self) -> frozenset[str]:
        """The name and the cells in the columns of KEYS, in lower case, without empty ones.

        A submission belongs to this row if its file's name holds one of them.
        """
        cells = [self.cell(one).removeprefix("Participant ") for one in KEYS]
        return frozenset(one.casefold() for one in (*cells, self.name) if one)


@dataclass(frozen=True)
class LateRule:
    """When work is due, and the percentage of a lab's points that each day costs that has begun.

    tries: "last" or "best", whichever counts.
    """

    due: datetime | None = None
    per_day: int = 0
    tries: str = TRIES[0]


@dataclass(frozen=True)
class Result:
    """What a student has: the mark that counts, or None if nothing was handed in.

    listed: the row of the roster, None for work of somebody who is in no row. student: as in the
    table. points: after the days that it was late. date: when it was handed in, None if unknown.
    tries: how many there were.
    """

    listed: Listed | None
    student: str
    mark: Mark | None
    points: int
    days_late: int = 0
    date: datetime | None = None
    tries: int = 0


def read_roster(file: Path) -> tuple[Listed, ...]:
    """Return the rows of a roster in their order, without empty rows and Canvas' possible points.

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
    """Return the row of the roster to which a submission belongs, or None if it is not known.

    Of the keys in the file's name, the most certain one counts that is a key of exactly one row.
    """
    for key in _keys_of(submission.name or submission.student):
        found = [one for one in roster if key in one.keys]
        if len(found) == 1:
            return found[0]
    return None


def _keys_of(name: str) -> Iterable[str]:
    """Yield what a file's name says about its student, the most certain first, in lower case."""
    yield name.casefold()
    for pattern in (_MOODLE, _CANVAS):
        if match := pattern.fullmatch(name):
            yield match["id"]
            yield match["name"].casefold()
    if match := _DOWNLOAD.fullmatch(name):
        yield match["name"].casefold()


def handed_in(submission: Submission, listed: Listed | None) -> datetime | None:
    """Return when a submission was handed in, or None if nothing says so.

    It is the date with which the name of its folder begins, or else the one in the roster's column
    HANDED_IN. Raises CourseError for a date that does not exist, or a cell that is no date.
    """
    named = _DATE.match(submission.folder)
    text = named[0] if named else listed.cell(HANDED_IN) if listed else ""
    if not text:
        return None
    return date_of(text, f"the roster's row of {listed.name}" if listed else submission.folder)


def date_of(text: str, where: str) -> datetime:
    """Return a text such as 2026-11-20 or 2026-11-20T18:30 as a datetime without a time zone.

    Without a time it is the day's last second. Raises CourseError, which names `where` the text is,
    for any other text.
    """
    try:
        date = datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        raise CourseError(
            f"{text!r} in {where} is no date: write 2026-11-20, or 2026-11-20T18:30."
        ) from None
    return date if len(text) > len("2026-11-20") else date + DAY - timedelta(seconds=1)


def days_late(date: datetime | None, due: datetime | None) -> int:
    """Return the days that have begun after `due`; 0 if none has, or if a date is not known."""
    return max(0, math.ceil((date - due) / DAY)) if date and due else 0


def results(
    roster: Sequence[Listed],
    submissions: Sequence[Submission],
    marks: Mapping[str, Mark],
    rule: LateRule,
) -> list[Result]:
    """Return one result per row of a roster, in its order, and then those who are in no row.

    submissions: all tries, the earlier before the later. marks: by student of a submission. Without
    a roster, files of one name are one student's. Raises CourseError for a date that is none.
    """
    tries: dict[Listed | str, list[Submission]] = {one: [] for one in roster}
    for submission in submissions:
        whose = owner(submission, roster) or submission.name or submission.student
        tries.setdefault(whose, []).append(submission)
    return [_result(one, own, marks, rule) for one, own in tries.items()]


def _result(
    whose: Listed | str, tries: Sequence[Submission], marks: Mapping[str, Mark], rule: LateRule
) -> Result:
    listed = whose if isinstance(whose, Listed) else None
    name = listed.name if listed else whose
    dated = [(handed_in(one, listed), marks[one.student]) for one in tries]
    late = [(days_late(date, rule.due), date, mark) for date, mark in dated]
    candidates = [
        Result(listed, name, mark, after(mark, days, rule.per_day), days, date, len(tries))
        for days, date, mark in sorted(late, key=lambda one: one[1] or datetime.min)
    ]
    if not candidates:
        return Result(listed, name, None, 0)
    return candidates[-1] if rule.tries == "last" else max(candidates, key=lambda one: one.points)


def after(mark: Mark, days: int, per_day: int) -> int:
    """Return the points of a mark that was late, at least 0.

    Each of the `days` costs `per_day` percent of the lab's points. The loss is rounded up.
    """
    return max(0, mark.points - math.ceil(mark.of * per_day * days / 100))
