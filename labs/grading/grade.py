"""Grade one submission: for each part one child counts, and a second explains what was not right.

Texts are read and interpreted in a fork of this process. Host functions are called once, in the
sandbox, and their explanations come with the first messages. No part can use up another's limits.
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
    """The mark of one student; points and their maximum are whole.

    told: pairs of an exercise and a sentence about all of it: a cause that `check` names, or a
    refusal. failed: what went wrong in the grader itself, or "". refused: the exercises that were
    refused by their text, so that nothing in their reasons comes from the secret.
    """

    student: str
    lab: str
    rows: tuple[MarkRow, ...]
    told: tuple[tuple[str, str], ...]
    failed: str = ""
    refused: tuple[str, ...] = ()

    @property
    def points(self) -> int:
        """The points of all rows."""
        return total(self.rows)[0]

    @property
    def of(self) -> int:
        """The maximum of the points."""
        return total(self.rows)[1]


def unjudged(lab: Lab, student: str, why: str) -> Mark:
    """Return a mark without points for a submission that the grader failed to judge.

    It is made of the lab alone, so that nothing in the submission can make it fail, too.
    """
    rows = tuple(MarkRow(part.exercise, "all of it", 0, part.points, why) for part in lab.parts)
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
    """Return True if the part was refused by its text, so that nothing of it was run."""
    return any("refused" in message for message in outcome.messages)


def _stopped(outcome: ChildOutcome) -> bool:
    """Return True if the part was refused, or ended before its first result.

    It ended so if its first message says so, or if its child had a problem and sent no message.
    There is nothing to explain then.
    """
    if outcome.problem and not outcome.messages:
        return True
    return any("refused" in message or "ended" in message for message in outcome.messages[:1])


def _outcomes(
    submission: Submission, exercises: list, hidden, limits: ChildLimits
) -> dict[str, ChildOutcome]:
    """Return a dict from each exercise's name to the messages about it, and how their child ended.

    Host functions are called in a sandbox, all others in a child process each. hidden: the hidden
    shapes and cases by the exercise's name.
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
    """Return an outcome with the messages about this exercise, and no others."""
    return replace(
        outcome, messages=tuple(one for one in outcome.messages if one.get("part") == name)
    )


def _rows_without_points(lab: Lab, hidden: HiddenByName, problem: str) -> tuple[MarkRow, ...]:
    messages = [{"refused": problem}]
    parts = ((part, hidden.get(part.exercise)) for part in lab.parts)
    return tuple(row for part, own in parts for row in rows_of(part, messages, own, ""))


def _explanations(
    submission: Submission, wrong: list, hidden, limits: ChildLimits
) -> dict[str, ChildOutcome]:
    """Return, by exercise name, the outcomes whose messages hold what `check` says about `wrong`.

    The messages are those of `explanations`. Host functions are left out. Marks do not change.
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
    """Return pairs of an exercise's name and a sentence, at most MOST_SENTENCES per exercise.

    Sentences that are too long for a page are cut.
    """
    return tuple(
        (exercise.name, cut(str(cause)))
        for exercise in wrong
        for cause in islice(_causes(explained[exercise.name]), MOST_SENTENCES)
    )


def _causes(outcome: ChildOutcome) -> Iterator[object]:
    for message in outcome.messages:
        yield from [message["refused"]] if "refused" in message else message.get("causes", ())
