"""One submission, graded: a child that counts, and one that explains what was not right.

Texts are read and interpreted in a fork of this process. Functions of the host are called, and
that is done in the sandbox, once: what they are told comes with what was seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from labs.grading.attempt import Drawn, attempts, explanations
from labs.grading.child import USUAL, Limits, in_child
from labs.grading.hidden import drawn
from labs.grading.labs import Lab
from labs.grading.marks import Row, rows_of, total
from labs.grading.messages import Ended
from labs.grading.reading import Submission
from labs.grading.sandbox import in_sandbox
from labs.host.exercise import HostExercise


@dataclass(frozen=True)
class Graded:
    """The mark of one student. points, of: hundredths.

    told: exercises with what holds for the whole of them: what `check` says, or why it was refused.
    """

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
    Raises CourseError for a secret that is too short, and for a lab with functions of the host
    where there is no sandbox.
    """
    asked = [part.asked for part in lab.parts]
    hidden = {one.name: drawn(one, secret) for one in asked if not isinstance(one, HostExercise)}
    if submission.problem:
        told = tuple((one.name, submission.problem) for one in asked)
        rows = _nothing(lab, hidden, submission.problem)
        return Graded(submission.student, lab.name, rows, told)
    seen = _seen(submission, asked, hidden, limits)
    rows = tuple(
        row
        for part in lab.parts
        for row in rows_of(
            part,
            seen[part.exercise].messages,
            hidden.get(part.exercise),
            seen[part.exercise].problem,
        )
    )
    graded = Graded(submission.student, lab.name, rows, ())
    if graded.points == graded.of:
        return graded
    wrong = [one for one in asked if any(row.told and row.part == one.name for row in rows)]
    unexplained = [one for one in wrong if not _stopped(seen[one.name])]
    explained = seen | _explained(submission, unexplained, hidden, limits)
    return replace(graded, told=_told(wrong, explained))


def _stopped(ended: Ended) -> bool:
    """Whether the first message says it all: nothing was run to its end."""
    return any("refused" in said or "ended" in said for said in ended.messages[:1])


def _seen(submission: Submission, asked: list, hidden, limits: Limits) -> dict[str, Ended]:
    """For each exercise the messages about it, and how the child that sent them ended."""
    called = [one for one in asked if isinstance(one, HostExercise)]
    read = [one for one in asked if one not in called]
    seen = {}
    if read:
        seen |= _by_name(read, in_child(partial(attempts, submission, read, hidden), limits))
    if called:
        names = [one.name for one in called]
        seen |= _by_name(called, in_sandbox(submission, names, limits))
    return seen


def _by_name(asked: list, ended: Ended) -> dict[str, Ended]:
    def about(name: str) -> tuple[dict, ...]:
        return tuple(one for one in ended.messages if one.get("part") == name)

    return {one.name: replace(ended, messages=about(one.name)) for one in asked}


def _nothing(lab: Lab, hidden: Drawn, problem: str) -> tuple[Row, ...]:
    seen = [{"refused": problem}]
    parts = ((part, hidden.get(part.exercise)) for part in lab.parts)
    return tuple(row for part, own in parts for row in rows_of(part, seen, own, ""))


def _explained(submission: Submission, wrong: list, hidden, limits: Limits) -> dict[str, Ended]:
    """What `check` says of exercises whose text is read; nothing of it changes the mark."""
    read = [one for one in wrong if not isinstance(one, HostExercise)]
    if not read:
        return {}
    return _by_name(read, in_child(partial(explanations, submission, read, hidden), limits))


def _told(wrong: list, explained: dict[str, Ended]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (one.name, str(cause))
        for one in wrong
        for said in explained[one.name].messages
        for cause in ([said["refused"]] if "refused" in said else said.get("causes", ()))
    )
