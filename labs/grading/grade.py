"""One submission, graded: two children, one that counts and one that explains."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from labs.grading.attempt import Drawn, attempts, explanations
from labs.grading.child import USUAL, Limits, in_child
from labs.grading.hidden import drawn
from labs.grading.labs import Lab
from labs.grading.marks import Row, rows_of, total
from labs.grading.reading import Submission
from labs.host import HostExercise


@dataclass(frozen=True)
class Graded:
    """The mark of one student. points, of: hundredths. told: exercises with what `check` says."""

    student: str
    lab: str
    rows: tuple[Row, ...]
    told: tuple[tuple[str, str], ...]

    @property
    def points(self) -> int:
        return total(self.rows)[0]

    @property
    def of(self) -> int:
        return total(self.rows)[1]


def grade(lab: Lab, submission: Submission, secret: str, limits: Limits = USUAL) -> Graded:
    """The same mark for the same text and secret, on every machine and in every order.

    Whatever the submission does, this returns: what is missing is a row with its reason.
    Raises CourseError for a secret that is too short.
    """
    asked = [part.asked for part in lab.parts]
    hidden = {one.name: drawn(one, secret) for one in asked if not isinstance(one, HostExercise)}
    if submission.problem:
        return Graded(submission.student, lab.name, _nothing(lab, hidden, submission.problem), ())
    ended = in_child(partial(attempts, submission, asked, hidden), limits)
    rows = tuple(
        row
        for part in lab.parts
        for row in rows_of(
            part,
            [one for one in ended.messages if one.get("part") == part.exercise],
            hidden.get(part.exercise),
            ended.problem,
        )
    )
    graded = Graded(submission.student, lab.name, rows, ())
    if graded.points == graded.of:
        return graded
    first = {one.get("part"): one for one in reversed(ended.messages)}
    stopped = {name for name, one in first.items() if "refused" in one or "ended" in one}
    wrong = [
        one
        for one in asked
        if one.name not in stopped and any(row.told and row.part == one.name for row in rows)
    ]
    return replace(graded, told=_told(submission, wrong, hidden, limits))


def _nothing(lab: Lab, hidden: Drawn, problem: str) -> tuple[Row, ...]:
    seen = [{"refused": problem}]
    parts = ((part, hidden.get(part.exercise)) for part in lab.parts)
    return tuple(row for part, own in parts for row in rows_of(part, seen, own, ""))


def _told(submission: Submission, asked: list, hidden, limits: Limits) -> tuple:
    """What `check` says of the exercises that are not right; nothing of it changes the mark."""
    ended = in_child(partial(explanations, submission, asked, hidden), limits)
    return tuple(
        (str(one.get("part")), str(cause))
        for one in ended.messages
        for cause in one.get("causes", ())
    )
