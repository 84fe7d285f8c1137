"""Is the grader right? Solutions, other right functions, starters and mutants of a lab, graded."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from labs.grading.equivalents import equivalents
from labs.grading.grade import Graded, grade
from labs.grading.labs import Lab, Part
from labs.grading.mutants import mutants
from labs.grading.reading import Submission


@dataclass(frozen=True)
class Tried:
    """One submission of a self-test: of which part and kind, what it changes, and its mark."""

    part: str
    kind: str
    what: str
    points: int
    of: int
    told: str


@dataclass(frozen=True)
class Summary:
    """A line of the table. full: right functions with all points. caught: mutants that lost some.

    kept: what the others changed; each must change nothing that a result or a count shows. unsaid:
    mutants that lost points and were told nothing.
    """

    part: str
    solution: int
    of: int
    starter: int
    right: int
    full: int
    mutants: int
    caught: int
    kept: tuple[str, ...]
    unsaid: tuple[str, ...]


def submissions(part: Part) -> Iterator[tuple[str, str, str]]:
    """Kind, what it changes, and the text."""
    asked = part.asked
    yield "solution", "", asked.solution_text
    yield "starter", "", asked.starter_text
    for what, text in equivalents(asked.solution_text):
        yield "right", what, text
    for what, text in mutants(asked.solution_text):
        yield "mutant", what, text


def tried(lab: Lab, secret: str, workers: int) -> Iterator[Tried]:
    """All of them, graded as a class is."""
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        futures = []
        for part in lab.parts:
            alone = Lab(lab.name, lab.title, lab.minutes, lab.lessons, lab.objectives, (part,))
            for kind, what, text in submissions(part):
                submission = Submission(kind, (("work.py", text.encode()),))
                futures.append((part, kind, what, pool.submit(grade, alone, submission, secret)))
        for part, kind, what, future in futures:
            found: Graded = future.result()
            told = found.told[0][1] if found.told else _first_reason(found)
            yield Tried(part.exercise, kind, what, found.points, found.of, told)


def _first_reason(found: Graded) -> str:
    return next((row.told for row in found.rows if row.of and row.told), "")


def summaries(lab: Lab, found: list[Tried]) -> Iterator[Summary]:
    """A line for each part."""
    for part in lab.parts:
        own = [one for one in found if one.part == part.exercise]
        by_kind = {kind: [one for one in own if one.kind == kind] for kind in KINDS}
        caught = [one for one in by_kind["mutant"] if one.points < one.of]
        yield Summary(
            part.exercise,
            by_kind["solution"][0].points,
            by_kind["solution"][0].of,
            by_kind["starter"][0].points,
            len(by_kind["right"]),
            sum(one.points == one.of for one in by_kind["right"]),
            len(by_kind["mutant"]),
            len(caught),
            tuple(one.what for one in by_kind["mutant"] if one not in caught),
            tuple(one.what for one in caught if not one.told),
        )


KINDS = ("solution", "starter", "right", "mutant")
