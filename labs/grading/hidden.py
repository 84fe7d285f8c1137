"""Shapes, seeds and cases that no student knows, drawn from a secret of each class."""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from random import Random

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape
from labs.numbers.exercise import Case, NumbersExercise
from utils.division import cdiv
from utils.errors import CourseError

SHORTEST = 16  # characters in a secret
CASES = 24  # drawn for a function of numbers
MOST_DRAWS = 100_000  # until there are as many new cases
WHOLE_SHAPES = 2  # how many shapes, from the first on, fill all blocks
KNOWN_CASES = 60  # the most cases of its task that are tried


@dataclass(frozen=True)
class Hidden:
    """The shapes and the seed with which one kernel is graded.

    shapes: the exercise's own first shape, which fills all blocks; a drawn one that fills all
    blocks, too; and then a variant of each of its other shapes. seed: the seed of the inputs.
    """

    shapes: tuple[Shape, ...]
    seed: int


@dataclass(frozen=True)
class HiddenCases:
    """The cases that a function of numbers gets in addition to the graded ones of its task.

    given: one tuple of arguments per call.
    """

    given: tuple[tuple[int, ...], ...]


def draw_hidden(exercise: KernelExercise | NumbersExercise, secret: str) -> Hidden | HiddenCases:
    """Return the hidden shapes of a kernel, or the hidden cases of a function of numbers.

    They are random numbers that depend only on the exercise and the secret. Raises CourseError for
    a secret that is too short, and if a function of numbers draws too few new cases.
    """
    if len(secret) < SHORTEST:
        raise CourseError(
            f"The secret has {len(secret)} characters, and at least {SHORTEST} are needed: make "
            'one with `python -c "import secrets; print(secrets.token_hex())"`.'
        )
    key = hmac.new(secret.encode(), exercise.name.encode(), hashlib.sha256).digest()
    random = Random(key)
    draw = _cases if isinstance(exercise, NumbersExercise) else _shapes
    return draw(exercise, random)


def _shapes(exercise: KernelExercise, random: Random) -> Hidden:
    """Return the shapes and the seed for a kernel exercise, drawn with this generator."""
    first, *others = exercise.shapes
    varied = [exercise.vary(shape, random) for shape in others]
    seed = random.randrange(10**6)
    return Hidden((first, exercise.whole(first, random), *varied), seed)


def count_shapes(exercise: KernelExercise) -> int:
    """Return the number of shapes at which a kernel is graded."""
    return len(exercise.shapes) + 1


def graded_cases(exercise: NumbersExercise) -> tuple[Case, ...]:
    """Return the cases of a task that a grader tries: the first 60, to save time."""
    return exercise.all_cases[:KNOWN_CASES]


def _cases(exercise: NumbersExercise, random: Random) -> HiddenCases:
    """Return 24 different cases that are not among the task's, drawn with this generator.

    No branch of the right formula decides more of them than its equal share, 24 divided by the
    number of branches among the task's cases and rounded up, so that a function with one branch
    alone gains little. If the task has all valid arguments, none are new: return its cases that are
    not graded yet, in random order. Raises CourseError if the exercise draws too few that are new.
    """
    if exercise.draw is None:
        rest = [case.given for case in exercise.all_cases[KNOWN_CASES:]]
        return HiddenCases(tuple(random.sample(rest, len(rest))))
    known = {case.given for case in exercise.all_cases}
    most = cdiv(CASES, len({exercise.branch(*given) for given in known}))  # cases of a branch
    cases: dict[tuple[int, ...], Hashable] = {}  # arguments -> their branch
    for _ in range(MOST_DRAWS):
        arguments = exercise.draw(random)
        branch = exercise.branch(*arguments)
        if arguments not in known and Counter(cases.values())[branch] < most:
            cases[arguments] = branch
        if len(cases) == CASES:
            return HiddenCases(tuple(cases))
    raise CourseError(
        f"{exercise.name} draws {len(cases)} cases that are not among those of its task, and "
        f"{CASES} are needed: list fewer cases there, or draw from more."
    )
