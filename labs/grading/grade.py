"""Grade one submission: one child counts, and a second explains what was not right.

Texts are read and interpreted in a fork of this process. Host functions are called once, in the
sandbox, and their explanations come with the first messages.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from labs.grading.attempt import HiddenByName, attempts, explanations
from labs.grading.child import USUAL, ChildLimits, in_child
from labs.grading.hidden import draw_hidden
from labs.grading.labs import Lab
from labs.grading.marks import MarkRow, rows_of, total
from labs.grading.messages import ChildOutcome
from labs.grading.sandbox import in_sandbox
from labs.grading.submissions import Submission
from labs.host.exercise import HostExercise
from utils.translation import in_english

LONGEST_ERROR = 300  # characters of an error's text


@dataclass(frozen=True)
class Mark:
    """The mark of one student; points and their maximum are in hundredths.

    told: pairs of an exercise and a sentence about all of it: a cause that `check` names, or a
    refusal. failed: what went wrong in the grader itself, or "".
    """

    student: str
    lab: str
    rows: tuple[MarkRow, ...]
    told: tuple[tuple[str, str], ...]
    failed: str = ""

    @property
    def points(self) -> int:
        """The points of all rows, in hundredths."""
        return total(self.rows)[0]

    @property
    def of(self) -> int:
        """The maximum of the points, in hundredths."""
        return total(self.rows)[1]


def unjudged(lab: Lab, student: str, why: str) -> Mark:
    """Return a mark without points for a submission that the grader failed to judge.

    It is made of the lab alone, so that nothing in the submission can make it fail, too.
    """
    rows = tuple(
        MarkRow(part.exercise, "all of it", 0, 100 * part.points, why) for part in lab.parts
    )
    return Mark(student, lab.name, rows, (), why)


def failure(error: BaseException) -> str:
    """Return a sentence on an error of the grader, for the page of the submission that met it."""
    try:
        told = f"{type(error).__name__}: {error}"[:LONGEST_ERROR]
    except Exception:  # an error whose text cannot be made
        told = type(error).__name__
    told = told.encode(errors="replace").decode().strip().rstrip(".:")
    return f"This was not judged, because the grader failed ({told}). Show this to your instructor."


@in_english()
def grade(lab: Lab, submission: Submission, secret: str, limits: ChildLimits = USUAL) -> Mark:
    """Return the mark of a submission, which depends only on its text, the lab and the secret.

    Whatever the submission does, this returns; a row without points carries its reason. Raises
    CourseError for a secret that is too short, and for a lab with host functions if there is no
    sandbox.
    """
    exercises = [part.definition for part in lab.parts]
    hidden = {
        one.name: draw_hidden(one, secret) for one in exercises if not isinstance(one, HostExercise)
    }
    if submission.problem:
        sentences = tuple((exercise.name, submission.problem) for exercise in exercises)
        rows = _rows_without_points(lab, hidden, submission.problem)
        return Mark(submission.student, lab.name, rows, sentences)
    outcomes = _outcomes(submission, exercises, hidden, limits)
    rows = tuple(
        row
        for part in lab.parts
        for row in rows_of(
            part,
            outcomes[part.exercise].messages,
            hidden.get(part.exercise),
            outcomes[part.exercise].problem,
        )
    )
    mark = Mark(submission.student, lab.name, rows, ())
    if mark.points == mark.of:
        return mark
    wrong = [one for one in exercises if any(row.told and row.part == one.name for row in rows)]
    unexplained = [exercise for exercise in wrong if not _stopped(outcomes[exercise.name])]
    explained = outcomes | _explanations(submission, unexplained, hidden, limits)
    return replace(mark, told=_sentences(wrong, explained))


def _stopped(outcome: ChildOutcome) -> bool:
    """Return True if the first message is a refusal or an abort, which needs no explanation."""
    return any("refused" in message or "ended" in message for message in outcome.messages[:1])


def _outcomes(
    submission: Submission, exercises: list, hidden, limits: ChildLimits
) -> dict[str, ChildOutcome]:
    """Return, by exercise, the messages about it and how the child that sent them ended."""
    host_exercises = [exercise for exercise in exercises if isinstance(exercise, HostExercise)]
    read_exercises = [exercise for exercise in exercises if exercise not in host_exercises]
    outcomes = {}
    if read_exercises:
        outcomes |= _by_name(
            read_exercises, in_child(partial(attempts, submission, read_exercises, hidden), limits)
        )
    if host_exercises:
        names = [exercise.name for exercise in host_exercises]
        outcomes |= _by_name(host_exercises, in_sandbox(submission, names, limits))
    return outcomes


def _by_name(exercises: list, outcome: ChildOutcome) -> dict[str, ChildOutcome]:
    def about(name: str) -> tuple[dict, ...]:
        return tuple(one for one in outcome.messages if one.get("part") == name)

    return {one.name: replace(outcome, messages=about(one.name)) for one in exercises}


def _rows_without_points(lab: Lab, hidden: HiddenByName, problem: str) -> tuple[MarkRow, ...]:
    messages = [{"refused": problem}]
    parts = ((part, hidden.get(part.exercise)) for part in lab.parts)
    return tuple(row for part, own in parts for row in rows_of(part, messages, own, ""))


def _explanations(
    submission: Submission, wrong: list, hidden, limits: ChildLimits
) -> dict[str, ChildOutcome]:
    """Return, by exercise, what `check` says about functions that are read; marks do not change."""
    read_exercises = [exercise for exercise in wrong if not isinstance(exercise, HostExercise)]
    if not read_exercises:
        return {}
    return _by_name(
        read_exercises, in_child(partial(explanations, submission, read_exercises, hidden), limits)
    )


def _sentences(wrong: list, explained: dict[str, ChildOutcome]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (exercise.name, str(cause))
        for exercise in wrong
        for message in explained[exercise.name].messages
        for cause in ([message["refused"]] if "refused" in message else message.get("causes", ()))
    )
