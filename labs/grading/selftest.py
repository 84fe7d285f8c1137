"""Is the grader right? Solutions, other right functions, starters and mutants of a lab, graded."""

from __future__ import annotations

import re
import resource
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context

from labs.checking.vocabulary import FUNCTION, KERNEL
from labs.grading.equivalents import equivalents
from labs.grading.grade import Graded, grade
from labs.grading.labs import Lab, Part
from labs.grading.mutants import sample
from labs.grading.reading import Submission

LEAST_RIGHT, LEAST_MUTANTS = 4, 12  # of each exercise
# Sentences that count and name no cause, and questions where no probe knows one.
_COUNTS = re.compile(r"[\d,]+ of [\d,]+ (elements|cases) are wrong\.( For .* returns .*)?$")
_QUESTIONS = (KERNEL.missing, KERNEL.wrong, FUNCTION.missing, FUNCTION.wrong)


@dataclass(frozen=True)
class Tried:
    """One submission of a self-test: of which part and kind, what it changes, and its mark.

    told: the first thing that the student reads. seconds: of a processor, that grading took.
    """

    part: str
    kind: str
    what: str
    points: int
    of: int
    told: str
    seconds: float

    @property
    def full(self) -> bool:
        """Whether it has all points."""
        return self.points == self.of

    @property
    def named(self) -> bool:
        """Whether what is told names a cause, and does not only count or ask."""
        counts, asks = _COUNTS.match(self.told), self.told.endswith(_QUESTIONS)
        return bool(self.told) and not counts and not asks


@dataclass(frozen=True)
class Summary:
    """A line of the table: all that was tried of one part."""

    part: str
    tried: tuple[Tried, ...]

    def of_kind(self, kind: str) -> list[Tried]:
        """What was tried of one kind: solution, starter, right or mutant."""
        return [one for one in self.tried if one.kind == kind]

    @property
    def caught(self) -> list[Tried]:
        """Mutants that lost points."""
        return [one for one in self.of_kind("mutant") if not one.full]

    @property
    def kept(self) -> list[Tried]:
        """Mutants with all points: each must change nothing that a result or a count shows."""
        return [one for one in self.of_kind("mutant") if one.full]

    @property
    def seconds(self) -> float:
        """Of a processor, that grading took."""
        return sum(one.seconds for one in self.tried)

    @property
    def wrong(self) -> Iterator[str]:
        """What does not hold, each in a sentence."""
        for one in self.of_kind("solution"):
            if not one.full:
                yield f"The solution loses points: {one.told}"
        for one in self.of_kind("starter"):
            if 3 * one.points > one.of:
                yield "The starter has more than a third of the points."
        for one in self.of_kind("right"):
            if not one.full:
                yield f"A right function loses points ({one.what}): {one.told}"
        right, named = len(self.of_kind("right")), sum(one.named for one in self.caught)
        if right < LEAST_RIGHT:
            yield f"There are {right} right functions, and {LEAST_RIGHT} are needed."
        if named < LEAST_MUTANTS:
            yield f"{named} mutants are told the cause, and {LEAST_MUTANTS} are needed."
        for one in self.caught:
            if not one.told:
                yield f"Points are lost, and nothing is told ({one.what})."


def submissions(part: Part, most: int | None) -> Iterator[tuple[str, str, str]]:
    """Kind, what it changes, and the text. most: mutants, spread over the rules; None for all."""
    asked = part.asked
    yield "solution", "", asked.solution_text
    yield "starter", "", asked.starter_text
    for what, text in equivalents(asked.solution_text):
        yield "right", what, text
    for one in sample(asked.solution_text, most):
        yield "mutant", one.what, one.text


def tried(lab: Lab, secret: str, workers: int, most: int | None) -> Iterator[Tried]:
    """All of them, graded as a class is, each part by itself."""
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        futures = []
        for part in lab.parts:
            alone = replace(lab, parts=(part,))
            for kind, what, text in submissions(part, most):
                submission = Submission(kind, (("work.py", text.encode()),))
                futures.append((part, kind, what, pool.submit(_timed, alone, submission, secret)))
        for part, kind, what, future in futures:
            found, seconds = future.result()
            told = found.told[0][1] if found.told else _first_reason(found)
            yield Tried(part.exercise, kind, what, found.points, found.of, told, seconds)


def _timed(lab: Lab, submission: Submission, secret: str) -> tuple[Graded, float]:
    start = _seconds_of_children()
    found = grade(lab, submission, secret)
    return found, _seconds_of_children() - start


def _seconds_of_children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _first_reason(found: Graded) -> str:
    return next((row.told for row in found.rows if row.of and row.told), "")


def summaries(lab: Lab, found: Sequence[Tried]) -> Iterator[Summary]:
    """A line for each part."""
    for part in lab.parts:
        yield Summary(part.exercise, tuple(one for one in found if one.part == part.exercise))
