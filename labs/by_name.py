"""The functions that lessons and graders call with an exercise's name: `check` and `task`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from labs.checking import judge as kernels
from labs.checking.exercise import KernelExercise
from labs.checking.verdict import Verdict
from labs.exercises import find
from labs.host import exercise as host
from labs.host.exercise import HostExercise
from labs.numbers import exercise as numbers
from labs.numbers.exercise import NumbersExercise
from utils.errors import CourseError
from utils.ladder import kept_functions
from utils.translation import translate

if TYPE_CHECKING:
    from utils.lessons.cards import Card

PATIENCE = 20.0  # seconds for one launch or call; the slowest right one takes less than 1 s

JUDGES: Mapping[type, Callable[..., Verdict]] = {
    KernelExercise: kernels.judge,
    HostExercise: host.judge,
    NumbersExercise: numbers.judge,
}


def check(name: str, submission, patience: float = PATIENCE) -> Verdict:
    """Judge the kernel or function that a reader has written for an exercise; return the verdict.

    name: the name of the exercise, such as "coalescing". submission: the kernel or the function, as
    the task asks. patience: the seconds that one launch or call may take. Kernels run on the
    virtual GPU, even on a machine with a GPU. A right submission is kept, see `kept_functions`.
    Raises CourseError if there is no exercise of this name. Whatever is wrong with the submission
    is a cause of the verdict, and never an exception.
    """
    exercise = find(name)
    verdict = JUDGES[type(exercise)](exercise, submission, patience)
    if not verdict.passed:
        return verdict
    try:
        kept_functions.keep(name, submission)
    except (CourseError, OSError) as error:
        note = translate("It is not kept for later cells: {why}", why=str(error))
        return replace(verdict, notes=(*verdict.notes, note))
    return verdict


def task(name: str) -> Card:
    """Return a card with an exercise's text, its targets, and hints that fold out one by one.

    Raises CourseError if there is no exercise of this name.
    """
    from utils.lessons.cards import Card  # this import takes a second, which graders do not need

    exercise = find(name)
    title, *text = map(translate, (exercise.title, *exercise.text))
    goals = translate("Targets: {goals}.", goals="; ".join(map(translate, exercise.goals)))
    return Card("ask", (f"{title}.", *text, goals), tuple(map(translate, exercise.hints)))
