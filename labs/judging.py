"""The one door to all judges: an exercise of the bank, and what a reader hands in for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from labs import checker, host, numbers
from labs.bank import find
from labs.exercise import Exercise
from labs.host import HostExercise
from labs.numbers import NumbersExercise
from labs.verdict import Verdict

PATIENCE = 20.0  # seconds for one launch or call; the slowest right one takes less than one

JUDGES: Mapping[type, Callable[..., Verdict]] = {
    Exercise: checker.judge,
    HostExercise: host.judge,
    NumbersExercise: numbers.judge,
}


def check(name: str, given, patience: float = PATIENCE) -> Verdict:
    """Judge what a reader has written for an exercise.

    given: a kernel or a function, as the task asks. patience: seconds that one launch or call may
    take. Kernels run on the virtual GPU, also where there is a GPU.
    Raises CourseError for a name that is no exercise; whatever is wrong with `given` is a cause.
    """
    asked = find(name)
    return JUDGES[type(asked)](asked, given, patience)
