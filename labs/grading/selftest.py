"""Test the grader itself on solutions, other right functions, starters and mutants of a lab."""

from __future__ import annotations

import re
import resource
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context

from labs.checking.variants import right_versions
from labs.checking.vocabulary import FUNCTION, KERNEL
from labs.grading import attempt
from labs.grading.equivalents import equivalents
from labs.grading.grade import Mark, grade
from labs.grading.labs import Lab, Part
from labs.grading.mutants import sample
from labs.grading.submissions import Submission

LEAST_RIGHT, LEAST_MUTANTS = 4, 12  # per exercise
# Sentences that only count, and questions that `check` asks if it finds no cause.
_COUNTS = re.compile(
    r"(Not right at [^.]*\. )?[\d,]+ of [\d,]+ (elements|cases) are wrong\.( For .* returns .*)?$"
)
_QUESTIONS = (KERNEL.missing, KERNEL.wrong, FUNCTION.missing, FUNCTION.wrong)


@dataclass(frozen=True)
class Trial:
    """One submission of a self-test and its mark.

    part: the exercise's name. kind: "solution", "starter", "right" or "mutant". what: the change to
    the solution, or "". points, of: the points and their maximum, both whole. sentence: the first
    sentence that the student reads, or "". seconds: processor time that grading took.
    """

    part: str
    kind: str
    what: str
    points: int
    of: int
    sentence: str
    seconds: float

    @property
    def full(self) -> bool:
        """True if the submission has all points."""
        return self.points == self.of

    @property
    def named(self) -> bool:
        """True if the first sentence names a cause, and does not only count or ask a question."""
        counts, asks = _COUNTS.match(self.sentence), self.sentence.endswith(_QUESTIONS)
        return bool(self.sentence) and not counts and not asks


@dataclass(frozen=True)
class PartSummary:
    """The trials of one part of a lab, which make one row of the self-test's table.

    part: the exercise's name. trials: all trials of this part.
    """

    part: str
    trials: tuple[Trial, ...]

    def of_kind(self, kind: str) -> list[Trial]:
        """Return the trials of one kind: solution, starter, right or mutant."""
        return [one for one in self.trials if one.kind == kind]

    @property
    def caught(self) -> list[Trial]:
        """The trials of mutants that lost points."""
        return [one for one in self.of_kind("mutant") if not one.full]

    @property
    def kept(self) -> list[Trial]:
        """The trials of mutants that kept all points.

        The slip of such a mutant must change nothing that a result or a count shows.
        """
        return [one for one in self.of_kind("mutant") if one.full]

    @property
    def seconds(self) -> float:
        """The processor time in seconds that grading all trials took."""
        return sum(one.seconds for one in self.trials)

    @property
    def wrong(self) -> Iterator[str]:
        """Yield a sentence for everything that the grader gets wrong, or that the self-test lacks.

        The grader is wrong if a solution or another right function loses points, if a starter has
        more than a third of the points, or if a mutant loses points and no sentence says why. The
        self-test needs at least LEAST_RIGHT right functions, and LEAST_MUTANTS mutants whose
        sentence names the cause.
        """
        for one in self.of_kind("solution"):
            if not one.full:
                yield f"The solution loses points: {one.sentence}"
        for one in self.of_kind("starter"):
            if 3 * one.points > one.of:
                yield "The starter has more than a third of the points."
        for one in self.of_kind("right"):
            if not one.full:
                yield f"A right function loses points ({one.what}): {one.sentence}"
        right, named = len(self.of_kind("right")), sum(one.named for one in self.caught)
        if right < LEAST_RIGHT:
            yield f"There are {right} right functions, and {LEAST_RIGHT} are needed."
        if named < LEAST_MUTANTS:
            yield f"{named} mutants are told the cause, and {LEAST_MUTANTS} are needed."
        for one in self.caught:
            if not one.sentence:
                yield f"Points are lost, and nothing is told ({one.what})."


def submissions(part: Part, most: int | None) -> Iterator[tuple[str, str, str]]:
    """Yield (kind, change, source code) of every submission that tests one part.

    The order is: solution, starter, other right functions, mutants. The change is "" for the first
    two. Where fewer than LEAST_RIGHT rules apply to the solution, the exercise's own right versions
    are tested, too. most: the greatest number of mutants, of which each rule makes about the same
    number; None for all.
    """
    exercise = part.definition
    yield "solution", "", exercise.solution_text
    yield "starter", "", exercise.starter_text
    others = list(equivalents(exercise.solution_text))
    if len(others) < LEAST_RIGHT:
        others += right_versions(exercise)
    for what, text in others:
        yield "right", what, text
    for one in sample(exercise.solution_text, most):
        yield "mutant", one.what, one.text


def apart(labs: Iterable[Lab]) -> list[Lab]:
    """Return a lab of one part, for 100 points, for each part of the labs.

    Parts that differ in their points alone are one part, because what the grader observes does not
    depend on points.
    """
    parts = {replace(part, points=100): lab for lab in labs for part in lab.parts}
    return [replace(lab, parts=(part,)) for part, lab in parts.items()]


def summaries(
    labs: Iterable[Lab], secret: str, workers: int, most: int | None
) -> Iterator[PartSummary]:
    """Grade all test submissions of labs of one part, and yield the summary of each lab in turn.

    The order of its trials is: solution, starter, other right functions, mutants. secret: a text
    from which hidden shapes are drawn. workers: the number of processes. most: the greatest number
    of mutants per part; None for all.
    """
    with ProcessPoolExecutor(workers, get_context("spawn"), _keep_types) as pool:
        graded = [(lab, list(_started(pool, lab, secret, most))) for lab in labs]
        for lab, started in graded:
            (part,) = lab.parts
            results = (_trial(part, *one) for one in started)
            yield PartSummary(part.exercise, tuple(results))


def _keep_types() -> None:
    """Let the children of this process store the types that they infer.

    What is graded here is written by the course itself, so it may be known to later processes.
    """
    attempt.LIMITS.pop("VIRTUAL_GPU_CACHE_READ_ONLY")


def _started(
    pool: ProcessPoolExecutor, lab: Lab, secret: str, most: int | None
) -> Iterator[tuple[str, str, Future]]:
    """Let a pool grade the submissions of a lab of one part; yield (kind, change, future mark).

    secret: a text from which hidden shapes are drawn. most: the greatest number of mutants; None
    for all.
    """
    (part,) = lab.parts
    for kind, what, text in submissions(part, most):
        submission = Submission(kind, (("work.py", text.encode()),))
        yield kind, what, pool.submit(_timed, lab, submission, secret)


def _trial(part: Part, kind: str, what: str, future: Future) -> Trial:
    """Wait for the mark of a submission and return its Trial. kind, what: those of the Trial."""
    mark, seconds = future.result()
    sentence = mark.told[0][1] if mark.told else _first_reason(mark)
    return Trial(part.exercise, kind, what, mark.points, mark.of, sentence, seconds)


def _timed(lab: Lab, submission: Submission, secret: str) -> tuple[Mark, float]:
    """Return the mark of a submission and the processor time in seconds that grading it took.

    Only the time of child processes is counted, in which the submission runs. secret: a text from
    which hidden shapes are drawn.
    """
    start = _seconds_of_children()
    mark = grade(lab, submission, secret)
    return mark, _seconds_of_children() - start


def _seconds_of_children() -> float:
    """Return the processor time in seconds of all child processes that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _first_reason(mark: Mark) -> str:
    """Return the first reason of a row that can give points, or "" if no points are lost."""
    return next((row.told for row in mark.rows if row.of and row.told), "")
