"""What an exercise is: one record that says what is asked, and how it is known to be done."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from labs.checking.job import Job
from labs.checking.target import Probes, Target

EXERCISES = Path(__file__).parents[1] / "exercises"  # a folder per exercise


@dataclass(frozen=True, eq=False, kw_only=True)
class Exercise(ABC):
    """What every exercise is: a text, and files with a starter and a solution.

    name: of its folder, and of the function in `starter.py` and `solution.py`.
    lesson: the number of the lesson that asks for it. title: as a heading.
    text: paragraphs of the task, with "about N lines".
    hints: each is shown after the one before it. after: what was gained, shown when it is right; no
    number that a prediction asks for later.
    """

    name: str
    lesson: str
    title: str
    text: tuple[str, ...]
    hints: tuple[str, ...]
    after: str

    @property
    @abstractmethod
    def goals(self) -> tuple[str, ...]:
        """What the task promises to look at, in words."""

    @property
    def starter(self) -> Callable:
        """What the reader begins with."""
        return getattr(self._file("starter"), self.name)

    @property
    def solution(self) -> Callable:
        """What is right and reaches every goal."""
        return getattr(self._file("solution"), self.name)

    @property
    def starter_text(self) -> str:
        """The file that the reader begins with."""
        return inspect.getsource(self._file("starter"))

    @property
    def solution_text(self) -> str:
        """The file with the solution."""
        return inspect.getsource(self._file("solution"))

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return EXERCISES / self.name

    def _file(self, file: str):
        return import_module(f"labs.exercises.{self.name}.{file}")


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelExercise(Exercise, Job):
    """One kernel that the reader writes; its text says the launch.

    targets: counts that a right kernel must reach as well. probes: what its family knows of the
    usual mistakes. timed: whether a grader may time it.
    """

    targets: tuple[Target, ...]
    probes: Probes = Probes()  # noqa: RUF009, frozen
    timed: bool = True

    @property
    def goals(self) -> tuple[str, ...]:
        """A right result, and the words of its targets."""
        return ("right at any shape", *(target.words for target in self.targets))
