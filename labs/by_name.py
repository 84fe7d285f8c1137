"""The functions that lessons and graders call with an exercise's name: `check` and `task`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from labs.checking import judge as kernels
from labs.checking import line_order
from labs.checking.exercise import Exercise, KernelExercise
from labs.checking.line_order import OrderExercise
from labs.checking.newest_cell import is_outdated
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
    OrderExercise: line_order.judge,
    HostExercise: host.judge,
    NumbersExercise: numbers.judge,
}


def check(name: str, submission, patience: float = PATIENCE) -> Verdict:
    """Judge what a reader has written for an exercise, and return the verdict.

    name: the name of the exercise, such as "coalescing". submission: the kernel or the function
    that the task asks for, or a list of line numbers if the task is to put lines in order.
    patience: the seconds that one launch or call may take. Kernels run on the virtual GPU, even on
    a machine with a GPU.

    If the submission passes, its function is stored with `kept_functions.keep`, so that later cells
    and lessons can use it. For lines in order, the kernel made of these lines is stored. If storing
    fails, the verdict has a note that says so. Another note says when the newest cell with the
    function stopped with an error, so that the submission is an earlier one.

    Raises CourseError if there is no exercise of this name. A mistake in the submission never
    raises an exception: it becomes a cause of the verdict.
    """
    exercise = find(name)
    verdict = JUDGES[type(exercise)](exercise, submission, patience)
    if is_outdated(submission):
        note = translate(
            "The newest cell with this function stopped with an error, so this is the verdict on "
            "the function from before."
        )
        verdict = replace(verdict, notes=(note, *verdict.notes))
    if not verdict.passed:
        return verdict
    try:
        kept_functions.keep(name, _function_of(exercise, submission))
    except (CourseError, OSError) as error:
        note = translate("It is not kept for later cells: {why}", why=str(error))
        return replace(verdict, notes=(*verdict.notes, note))
    return verdict


def _function_of(exercise: Exercise, submission):
    """Return the kernel or function that a submission stands for.

    It is the submission itself, or the kernel that the lines make if the submission is a list of
    line numbers.
    """
    if isinstance(exercise, OrderExercise):
        return line_order.kernel_of(exercise, submission)
    return submission


def task(name: str) -> Card:
    """Return a card with an exercise's title, text and targets, and hints that can be opened.

    If the task is to put lines in order, the card also shows the lines with their numbers, and in a
    notebook the reader can rearrange them there.

    Raises CourseError if there is no exercise of this name.
    """
    # These imports take a second, which graders do not need.
    from utils.lessons.cards import Card
    from utils.lessons.line_order import LineOrder

    exercise = find(name)
    title, *text = map(translate, (exercise.title, *exercise.text))
    return Card(
        "ask",
        (f"{title}.", *text, translate("Targets:")),
        tuple(map(translate, exercise.hints)),
        tuple(map(translate, exercise.goals)),
        LineOrder(name, exercise.listing) if isinstance(exercise, OrderExercise) else None,
        _usual_targets(exercise),
    )


def _usual_targets(exercise: Exercise) -> str:
    """Return a sentence with the goals that many exercises share, or "" if none are shared."""
    if not exercise.usual_goals:
        return ""
    goals = ", ".join(map(translate, exercise.usual_goals))
    return translate("Usual targets: {goals}.", goals=goals)
