"""Shapes, seeds and cases that no student knows: drawn from a secret, one for each class."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape
from labs.numbers.exercise import Case, NumbersExercise
from utils.errors import CourseError

SHORTEST = 16  # characters of a secret
CASES = 24  # of a function of numbers
KNOWN_CASES = 60  # at most, of those that its task has


@dataclass(frozen=True)
class Hidden:
    """What one kernel is run with. The first shape fits the blocks: targets count there."""

    shapes: tuple[Shape, ...]
    seed: int


@dataclass(frozen=True)
class HiddenCases:
    """What a function of numbers is given besides the cases of its task; none of those is here."""

    given: tuple[tuple[int, ...], ...]


def drawn(asked: KernelExercise | NumbersExercise, secret: str) -> Hidden | HiddenCases:
    """The same for the same secret, on every machine and in every order.

    Raises CourseError for a secret that is too short.
    """
    if len(secret) < SHORTEST:
        raise CourseError(
            f"The secret has {len(secret)} characters, and at least {SHORTEST} are needed: make "
            'one with `python -c "import secrets; print(secrets.token_hex())"`.'
        )
    key = hmac.new(secret.encode(), asked.name.encode(), hashlib.sha256).digest()
    random = Random(key)
    return _cases(asked, random) if isinstance(asked, NumbersExercise) else _shapes(asked, random)


def _shapes(asked: KernelExercise, random: Random) -> Hidden:
    first, *others = asked.shapes
    vary: Callable[[Shape, Random], Shape] = asked.vary
    return Hidden((first, *(vary(shape, random) for shape in others)), random.randrange(10**6))


def graded_cases(asked: NumbersExercise) -> tuple[Case, ...]:
    """Those of the task's cases that a grader tries: hundreds of records would take their time."""
    return asked.all_cases[:KNOWN_CASES]


def _cases(asked: NumbersExercise, random: Random) -> HiddenCases:
    known = {case.given for case in asked.all_cases}
    found: dict[tuple[int, ...], None] = {}  # in their order, each once
    while len(found) < CASES:
        given = asked.draw(random)
        if given not in known:
            found[given] = None
    return HiddenCases(tuple(found))
