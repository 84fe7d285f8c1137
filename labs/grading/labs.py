"""The labs: exercises of the bank, with points, as an instructor assigns them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from labs.bank import find as exercise
from labs.exercise import Asked
from utils.errors import CourseError


@dataclass(frozen=True)
class Part:
    """One exercise of a lab. exercise: its name. points: for all of it."""

    exercise: str
    points: int

    @property
    def asked(self) -> Asked:
        return exercise(self.exercise)


@dataclass(frozen=True)
class Lab:
    """What is handed out and handed in together.

    name: as on the command line. minutes: for a student who has done the lesson. lessons: to be
    done before. objectives: what a student can do afterwards.
    """

    name: str
    title: str
    minutes: int
    lessons: tuple[str, ...]
    objectives: tuple[str, ...]
    parts: tuple[Part, ...]

    @property
    def points(self) -> int:
        return sum(part.points for part in self.parts)
