"""What lessons and graders call: an exercise by its name, its task, and the check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from labs.checking import judge as kernels
from labs.checking.exercise import KernelExercise
from labs.checking.verdict import Verdict
from labs.exercises import find
from labs.host import exercise as host
from labs.host.exercise import HostExercise
from labs.numbers import exercise as numbers
from labs.numbers.exercise import NumbersExercise

if TYPE_CHECKING:
    from utils.lessons.cards import Card

PATIENCE = 20.0  # seconds for one launch or call; the slowest right one takes less than one

JUDGES: Mapping[type, Callable[..., Verdict]] = {
    KernelExercise: kernels.judge,
    HostExercise: host.judge,
    NumbersExercise: numbers.judge,
}


def check(name: str, given, patience: float = PATIENCE) -> Verdict:
    """Judge what a reader has written for an exercise.

    given: a kernel or a function, as the task asks. patience: seconds that one launch or call may
    take. Kernels run on the virtual GPU, also where there is a GPU.
    Raises CourseError for a name that is no exercise; whatever is wrong with `given` is a cause.
    """
    exercise = find(name)
    return JUDGES[type(exercise)](exercise, given, patience)


def task(name: str) -> Card:
    """The text of an exercise, its targets, and hints that fold out one inside the other.

    Raises CourseError for a name that is no exercise.
    """
    from utils.lessons.cards import Card  # a second that graders need not wait

    exercise = find(name)
    goals = f"Targets: {'; '.join(exercise.goals)}."
    return Card("ask", (f"{exercise.title}.", *exercise.text, goals), exercise.hints)
