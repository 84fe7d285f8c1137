"""The record of an exercise: its task, its files, and the targets that its solution must reach."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from labs.checking.job import Job
from labs.checking.run import Run
from labs.checking.target import Probes, Target
from utils.errors import CourseError

EXERCISES = Path(__file__).parents[1] / "exercises"  # a folder per exercise
# The reader writes a kernel, chooses the cure of a flawed one, orders the lines of one, or changes
# a few lines of a right one, so that it reaches a count.
RIGHT = "right at any shape"
KINDS = ("write", "repair", "order", "change")


@dataclass(frozen=True, eq=False, kw_only=True)
class Exercise(ABC):
    """An exercise of any kind: a text, and files with a starter and a solution.

    name: the name of its folder and of the function in `starter.py` and `solution.py`. lesson: the
    number of the lesson that asks for it, such as "01". title: its heading. text: the paragraphs of
    the task, which also say about how many lines the reader will write. hints: in the order in
    which they are shown. after: a sentence on what the solution gained, shown when the answer is
    right.
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
        """The criteria by which an answer is judged: English phrases, as the task states them."""

    @property
    def usual_goals(self) -> tuple[str, ...]:
        """Criteria that many exercises share: English phrases; the task states them in one line.

        They are () unless a kind of exercise has its own.
        """
        return ()

    @property
    def starter(self) -> Callable:
        """The unfinished function of `starter.py`, with which the reader begins."""
        return getattr(self._file("starter"), self.name)

    @property
    def solution(self) -> Callable:
        """The function of `solution.py`, which is right and reaches every goal.

        Raises CourseError if this copy of the course has no solutions.
        """
        return getattr(self._file("solution"), self.name)

    @property
    def starter_text(self) -> str:
        """The source code of `starter.py`, the whole file."""
        return inspect.getsource(self._file("starter"))

    @property
    def solution_text(self) -> str:
        """The source code of `solution.py`, the whole file.

        Raises CourseError if this copy of the course has no solutions.
        """
        return inspect.getsource(self._file("solution"))

    @property
    def folder(self) -> Path:
        """The path of the folder that holds the exercise's files."""
        return EXERCISES / self.name

    def has(self, file: str) -> bool:
        """Return True if the exercise's folder has `file`.py; file: its name, such as "solution".

        A student's copy of the course lacks the solutions, for example.
        """
        return (self.folder / f"{file}.py").exists()

    def _file(self, file: str):
        """Import `file`.py of the exercise's folder and return the module.

        Raises CourseError if this copy of the course lacks the file.
        """
        if not self.has(file):
            raise CourseError(f"This copy of the course has no {file} of {self.name}.")
        return import_module(f"labs.exercises.{self.name}.{file}")


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelExercise(Exercise, Job):
    """An exercise in which the reader writes or changes one kernel; its text states the launch.

    targets: counts that a right kernel must also reach. probes: functions that recognise frequent
    mistakes in kernels of this kind. timed: True if a grader may time the kernel. kind: one of
    `KINDS`. lines_to_change: if the kind is "change", the number of lines that have to change; a
    verdict has a note if the reader changes more. main: the names (`Target.what`) of the targets
    that the task is about, whose counts a verdict shows; if it is empty, these are all targets but
    the usual ones. plain_goals, plain_usual_goals: phrases that the task shows instead of the
    targets' own words, for readers who do not know these words yet. remarks: functions
    that take the first run of a right kernel and return a sentence on what is no flaw, or None.
    """

    targets: tuple[Target, ...]
    probes: Probes = Probes()  # noqa: RUF009, frozen
    timed: bool = True
    kind: str = "write"
    lines_to_change: int = 1
    main: tuple[str, ...] = ()
    plain_goals: tuple[str, ...] = ()
    plain_usual_goals: tuple[str, ...] = ()
    remarks: tuple[Callable[[Run], str | None], ...] = ()

    @property
    def goals(self) -> tuple[str, ...]:
        """The goals as English phrases: `plain_goals`, or the targets' words if that is empty.

        The words of the main targets come first, and those of the usual targets are left out. A
        task that has no other targets has the single goal `RIGHT`, "right at any shape".
        """
        own = sorted(self._own, key=lambda target: not self.is_main(target))
        return self.plain_goals or tuple(target.words for target in own) or (RIGHT,)

    @property
    def usual_goals(self) -> tuple[str, ...]:
        """The usual goals as English phrases: `plain_usual_goals`, or words of the usual targets.

        The words are used if `plain_usual_goals` is empty. If the task also has targets that are
        not usual, `RIGHT` comes before the words.
        """
        usual = tuple(target.words for target in self.targets if target.is_usual)
        return self.plain_usual_goals or ((RIGHT, *usual) if self._own else usual)

    def is_main(self, target: Target) -> bool:
        """Return True if the task is about this target, so that a verdict shows its count.

        These are the targets named in `main`, or all but the usual ones if `main` is empty.
        """
        return target.what in self.main if self.main else not target.is_usual

    @property
    def _own(self) -> list[Target]:
        """The targets of this exercise that are not usual, in order."""
        return [target for target in self.targets if not target.is_usual]
