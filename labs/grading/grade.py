"""Grade one submission.

For each part, one child process runs the function, and a second one explains what is wrong. Texts
are read and interpreted in a fork of this process. Host functions are called once, in the sandbox,
and the explanations come with the results. No part can use up the limits of another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from labs.grading.attempt import HiddenByName, attempts, explanations
from labs.grading.child import CPU_SECONDS_TO_EXPLAIN, USUAL, ChildLimits, in_child
from labs.grading.hidden import draw_hidden
from labs.grading.labs import Lab
from labs.grading.marks import MarkRow, cut, rows_of, total
from labs.grading.messages import ChildOutcome
from labs.grading.sandbox import in_sandbox
from labs.grading.submissions import Submission
from labs.host.exercise import HostExercise
from utils.translation import in_english

LONGEST_ERROR = 300  # characters of an error's text
MOST_SENTENCES = 20  # about one part


@dataclass(frozen=True)
class Mark:
    """The mark of one student.

    student: the student's name. lab: the name of the lab. rows: what the points are given for.
    told: pairs of an exercise's name and a sentence about the whole exercise, such as a cause that
    `check` names. failed: a sentence on what went wrong in the grader itself, or "". refused: the
    names of the exercises whose function was refused before it ran, so that their reasons contain
    nothing that is drawn from the secret.
    """

    student: str
    lab: str
    rows: tuple[MarkRow, ...]
    told: tuple[tuple[str, str], ...]
    failed: str = ""
    refused: tuple[str, ...] = ()

    @property
    def points(self) -> int:
        """The sum of the points of all rows, a whole number."""
        return total(self.rows)[0]

    @property
    def of(self) -> int:
        """The maximum of the points, a whole number."""
        return total(self.rows)[1]


def unjudged(lab: Lab, student: str, why: str) -> Mark:
    """Return a mark without points for a submission on which the grader failed.

    It is made from the lab alone, so that nothing in the submission can make it fail, too. why: a
    sentence on what failed.
    """
    rows = tuple(MarkRow(part.exercise, "all of it", 0, part.points, why) for part in lab.parts)
    return Mark(student, lab.name, rows, (), why)


def failure(error: BaseException) -> str:
    """Return a sentence on an error of the grader, for the page of the student."""
    try:
        told = f"{type(error).__name__}: {error}"[:LONGEST_ERROR]
    except Exception:  # an error whose text cannot be made
        told = type(error).__name__
    told = told.encode(errors="replace").decode().strip().rstrip(".:")
    return f"This was not judged, because the grader failed ({told}). Show this to your instructor."


@in_english()
def grade(lab: Lab, submission: Submission, secret: str, limits: ChildLimits = USUAL) -> Mark:
    """Return the mark of a submission, which depends only on its text, the lab and the secret.

    Whatever the submission does, this function returns; a row that lost points has the reason.
    secret: the class's secret, from which hidden shapes and cases are drawn. limits: those of each
    part's child process. Raises CourseError if the secret is too short, or if the lab has host
    functions and there is no sandbox.
    """
    exercises = [part.definition for part in lab.parts]
    hidden = {
        one.name: draw_hidden(one, secret) for one in exercises if not isinstance(one, HostExercise)
    }
    if submission.problem:
        problem = cut(submission.problem)
        sentences = tuple((exercise.name, problem) for exercise in exercises)
        rows = _rows_without_points(lab, hidden, problem)
        refused = tuple(exercise.name for exercise in exercises)
        return Mark(submission.student, lab.name, rows, sentences, refused=refused)
    outcomes = _outcomes(submission, exercises, hidden, limits)
    rows = tuple(
        replace(row, told=cut(row.told))
        for part in lab.parts
        for row in rows_of(
            part,
            outcomes[part.exercise].messages,
            hidden.get(part.exercise),
            outcomes[part.exercise].problem,
        )
    )
    refused = tuple(name for name, one in outcomes.items() if _refused(one))
    mark = Mark(submission.student, lab.name, rows, (), refused=refused)
    if mark.points == mark.of:
        return mark
    wrong = [one for one in exercises if any(row.told and row.part == one.name for row in rows)]
    unexplained = [exercise for exercise in wrong if not _stopped(outcomes[exercise.name])]
    explained = outcomes | _explanations(submission, unexplained, hidden, limits)
    return replace(mark, told=_sentences(wrong, explained))


def _refused(outcome: ChildOutcome) -> bool:
    """Return True if the function was refused because of its text, so that it never ran."""
    return any("refused" in message for message in outcome.messages)


def _stopped(outcome: ChildOutcome) -> bool:
    """Return True if the part was refused or ended before its first result.

    Then there is nothing left to explain. A part also counts as ended if its child had a problem
    and sent no message.
    """
    if outcome.problem and not outcome.messages:
        return True
    return any("refused" in message or "ended" in message for message in outcome.messages[:1])


def _outcomes(
    submission: Submission, exercises: list, hidden, limits: ChildLimits
) -> dict[str, ChildOutcome]:
    """Return a dict from each exercise's name to its child's messages and how the child ended.

    A host function is called in a sandbox, and any other function in a child process of its own.
    hidden: the hidden shapes or cases by the exercise's name.
    """
    outcomes = {}
    for exercise in exercises:
        if isinstance(exercise, HostExercise):
            outcome = in_sandbox(submission, (exercise.name,), limits)
        else:
            outcome = in_child(partial(attempts, submission, [exercise], hidden), limits)
        outcomes[exercise.name] = _about(exercise.name, outcome)
    return outcomes


def _about(name: str, outcome: ChildOutcome) -> ChildOutcome:
    """Return an outcome with only those messages that are about the exercise with this name."""
    return replace(
        outcome, messages=tuple(one for one in outcome.messages if one.get("part") == name)
    )


def _rows_without_points(lab: Lab, hidden: HiddenByName, problem: str) -> tuple[MarkRow, ...]:
    """Return the rows of a mark without points, each with `problem` as its reason."""
    messages = [{"refused": problem}]
    parts = ((part, hidden.get(part.exercise)) for part in lab.parts)
    return tuple(row for part, own in parts for row in rows_of(part, messages, own, ""))


def _explanations(
    submission: Submission, wrong: list, hidden, limits: ChildLimits
) -> dict[str, ChildOutcome]:
    """Return a dict from exercise name to the child's messages that say what is wrong there.

    wrong: the exercises. Those about host functions are left out.
    """
    limits = replace(limits, cpu_seconds=min(limits.cpu_seconds, CPU_SECONDS_TO_EXPLAIN))
    return {
        exercise.name: _about(
            exercise.name, in_child(partial(explanations, submission, [exercise], hidden), limits)
        )
        for exercise in wrong
        if not isinstance(exercise, HostExercise)
    }


def _sentences(wrong: list, explained: dict[str, ChildOutcome]) -> tuple[tuple[str, str], ...]:
    """Return pairs of an exercise's name and a sentence about it, at most 20 per exercise.

    wrong: the exercises. explained: the outcome with the sentences, by exercise name. Long
    sentences are cut.
    """
    return tuple(
        (exercise.name, cut(str(cause)))
        for exercise in wrong
        for cause in islice(_causes(explained[exercise.name]), MOST_SENTENCES)
    )


def _causes(outcome: ChildOutcome) -> Iterator[object]:
    """Yield the sentences of a child's messages on why a function is refused or what is wrong."""
    for message in outcome.messages:
        yield from [message["refused"]] if "refused" in message else message.get("causes", ())
