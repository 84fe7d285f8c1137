"""The bank: every folder here is an exercise of that name, and holds nothing but its data.

`exercise.py` describes the task, `starter.py` is what a reader begins with, and `solution.py` is
right. `right.py` and `wrong.py` hold other versions, and `cheap.py` versions that ignore the idea
of the task. `mistakes.json` is the table by which `check` recognises wrong versions by what they
do. For a function of numbers, `formula.py` computes the right answers.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from labs.checking.exercise import Exercise
from utils.errors import CourseError


def _load() -> dict[str, Exercise]:
    """Import all exercises; return a dict from name to exercise, in alphabetical order."""
    folders = sorted(file.parent.name for file in Path(__file__).parent.glob("*/exercise.py"))
    return {name: import_module(f"{__package__}.{name}.exercise").EXERCISE for name in folders}


EXERCISES: Mapping[str, Exercise] = _load()


def find(name: str) -> Exercise:
    """Return the exercise of this name.

    Raises CourseError if there is none; the message has the most similar name, or else all names.
    """
    if name in EXERCISES:
        return EXERCISES[name]
    close = difflib.get_close_matches(str(name), EXERCISES, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(EXERCISES)}."
    raise CourseError(f"There is no exercise {name!r}: {hint}")
