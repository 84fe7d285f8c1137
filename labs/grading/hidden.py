"""Shapes and seeds that no student knows: drawn from the instructor's secret, one for a class."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from labs.exercise import Exercise, Shape
from utils.errors import CourseError

SHORTEST = 16  # characters of a secret


@dataclass(frozen=True)
class Hidden:
    """What one exercise is run with. The first shape fits the blocks: targets count there."""

    shapes: tuple[Shape, ...]
    seed: int


def drawn(asked: Exercise, secret: str) -> Hidden:
    """The same for the same secret, on every machine and in every order."""
    if len(secret) < SHORTEST:
        raise CourseError(
            f"The secret has {len(secret)} characters, and at least {SHORTEST} are needed: make "
            'one with `python -c "import secrets; print(secrets.token_hex())"`.'
        )
    key = hmac.new(secret.encode(), asked.name.encode(), hashlib.sha256).digest()
    random = Random(key)
    first, *others = asked.shapes
    vary: Callable[[Shape, Random], Shape] = asked.vary
    return Hidden((first, *(vary(shape, random) for shape in others)), random.randrange(10**6))
