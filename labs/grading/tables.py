"""The table of a class with the columns that Canvas and Moodle import, or with plain ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from labs.grading.feedback import csv_of, points_by_part
from labs.grading.labs import Lab
from labs.grading.roster import Listed, Result
from utils.errors import CourseError

PLAIN, CANVAS, MOODLE = "plain", "canvas", "moodle"
COLUMNS = (PLAIN, CANVAS, MOODLE)
OF_CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
# Moodle finds a student by one of these.
OF_MOODLE = ("Email address", "ID number", "Username")


def as_plain(lab: Lab, results: Sequence[Result]) -> str:
    """Return the text of a CSV file with one row per student, in the order of the results.

    The columns are: student, points, their maximum, the points of each part, the days that the work
    was late, and the number of tries, which is 0 for a student who handed in nothing.
    """
    parts = [part.exercise for part in lab.parts]
    headings = ["student", "points", "of", *parts, "days_late", "tries"]
    return _csv(headings, results, partial(_plain_row, lab, parts))


def _plain_row(lab: Lab, parts: Sequence[str], one: Result) -> list[str | int]:
    """Return the cells of one student's row.

    They are the name, the points, the maximum, the points of each part, the days late and the
    tries. Parts of a missing mark have 0 points. parts: the names of the lab's exercises, in order.
    """
    own = points_by_part(one.mark, parts) if one.mark else [0 for _ in parts]
    return [one.student, one.points, lab.points, *own, one.days_late, one.tries]


def as_canvas(lab: Lab, results: Sequence[Result], item: str) -> str:
    """Return the text of a CSV file that Canvas imports as grades.

    The columns are those of OF_CANVAS and the points. The first row below the headings has the
    lab's points as "Points Possible"; each other row is one student's. Work of students in no row
    of the roster is left out. item: the assignment's heading in Canvas' export, such as `Lab 1
    (4711)`. Raises CourseError if the roster is no export of Canvas.
    """
    listed = _listed(results)
    _require(listed, ("ID",), "Canvas", "the file that Export in its gradebook gives")
    first = ["    Points Possible", *("" for _ in OF_CANVAS[1:]), lab.points]
    rows = [("Points Possible", lambda: first), *_rows(listed, partial(_listed_row, OF_CANVAS))]
    return csv_of([*OF_CANVAS, item], rows)


def as_moodle(lab: Lab, results: Sequence[Result], item: str) -> str:
    """Return the text of a CSV file that Moodle imports as grades.

    The columns are those of OF_MOODLE that the roster has, and the points. Work of students in no
    row of the roster is left out. item: the name of the grade item, which the import asks for.
    Raises CourseError if the roster has no column by which Moodle knows a student.
    """
    listed = _listed(results)
    _require(listed, OF_MOODLE, "Moodle", "an export of its grades or participants")
    known = [name for name in OF_MOODLE if any(one.listed.cell(name) for one in listed)]
    return _csv([*known, item], listed, partial(_listed_row, known))


def _listed_row(names: Sequence[str], one: Result) -> list[str | int]:
    """Return the cells of the roster's columns with these names, followed by the points."""
    return [*(one.listed.cell(name) for name in names), one.points]


def _listed(results: Sequence[Result]) -> list[Result]:
    """Return the results of students who are in the roster."""
    return [one for one in results if one.listed]


def _require(results: Sequence[Result], any_of: Sequence[str], whose: str, file: str) -> None:
    """Raise CourseError if no row of the roster has a cell in one of these columns.

    any_of: the headings. whose: "Canvas" or "Moodle". file: what to give as a roster instead.
    """
    if not any(_has(one.listed, any_of) for one in results):
        raise CourseError(
            f"{whose} finds a student by {' or '.join(any_of)}, and the roster has no such column: "
            f"give {file} by --roster."
        )


def _has(listed: Listed, names: Sequence[str]) -> bool:
    """Return True if a row of the roster has a cell that is not empty in one of these columns."""
    return any(listed.cell(name) for name in names)


def _csv(
    headings: Sequence[str], results: Sequence[Result], made: Callable[[Result], Sequence]
) -> str:
    """Return the text of a CSV file with a line of headings and one line per result.

    made: returns the cells of a result's row.
    """
    return csv_of(headings, _rows(results, made))


def _rows(results: Sequence[Result], made: Callable[[Result], Sequence]) -> list[tuple]:
    """Return pairs of a student's name and a function that returns the cells of the row.

    made: returns the cells for a result.
    """
    return [(one.student, partial(made, one)) for one in results]
