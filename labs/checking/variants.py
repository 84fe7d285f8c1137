"""Wrong and right versions of a solution, which an exercise lists as changes of its text.

`wrong.py` maps what `check` says to the versions that earn it, and `right.py` lists versions that
`check` accepts. `cheap.py` lists versions that ignore the idea of the task. A version is a list of
changes, each a piece of the solution's text and what replaces it everywhere, or the whole text of a
file. A right order of lines is a list of their numbers, which stands for the file with the kernel
of this order.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

from labs.checking.exercise import Exercise
from utils.errors import CourseError

Changes = str | Sequence[tuple[str, str]] | Sequence[int]
_NUMBERS = itertools.count(1)


@dataclass(frozen=True)
class Wrong:
    """A wrong version of a solution.

    what: its label. says: a part of the verdict that it earns, with the placeholders of
    `labs.checking.placeholders`. text: the whole file.
    """

    what: str
    says: str
    text: str


def wrong_versions(exercise: Exercise) -> Iterator[Wrong]:
    """Yield the wrong versions of an exercise's solution in the order of `wrong.py`."""
    listed = _file(exercise, "wrong").WRONG
    for says, versions in listed.items():
        for what, changes in versions.items():
            yield Wrong(what, says, changed(exercise, changes))


def right_versions(exercise: Exercise) -> Iterator[tuple[str, str]]:
    """Yield (label, text of the whole file) per right version that `right.py` lists."""
    for what, changes in _file(exercise, "right").RIGHT.items():
        yield what, changed(exercise, changes)


def cheap_versions(exercise: Exercise) -> Iterator[tuple[str, str]]:
    """Yield (label, text of the whole file) per version that `cheap.py` lists.

    Such a version ignores what the task is about. Its results may be right, but, for example, one
    thread does everything, or an answer is a constant.
    """
    for what, changes in _file(exercise, "cheap").CHEAP.items():
        yield what, changed(exercise, changes)


def harmless_mutants(exercise: Exercise) -> Mapping[str, str]:
    """Return a dict from the label of a mutant of the solution that is right to why it is right.

    It is empty if `right.py` lists none.
    """
    return getattr(_file(exercise, "right"), "HARMLESS", {})


def changed(exercise: Exercise, changes: Changes) -> str:
    """Return the text of a whole file: the solution with these changes made.

    changes: a list of pairs (piece of the text, its replacement everywhere), the whole text as a
    string, or a list of line numbers for an exercise in which lines are ordered. Raises CourseError
    if a piece is not in the solution.
    """
    if isinstance(changes, str):
        return changes
    if changes and all(isinstance(number, int) for number in changes):
        return exercise.text_of(changes)
    text = exercise.solution_text
    for piece, other in changes:
        if piece not in text:
            raise CourseError(
                f"The solution of {exercise.name} has no {piece!r}: compare the change with the "
                "file."
            )
        text = text.replace(piece, other)
    return text


def file_beside(file: str, name: str) -> str:
    """Return the text of the file `name`.py in the same folder as `file`, such as the starter."""
    return (Path(file).parent / f"{name}.py").read_text(encoding="utf-8")


def function_in(name: str, text: str) -> Callable:
    """Execute a text as a new module and return its function of this name.

    The text stays in `linecache`, so that tracebacks can show its lines.
    """
    file = f"<{name} {next(_NUMBERS)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = ModuleType(name)
    module.__file__ = file
    exec(compile(text, file, "exec"), module.__dict__)
    return getattr(module, name)


def _file(exercise: Exercise, file: str) -> ModuleType:
    """Import and return the module `file`.py of an exercise's folder."""
    return import_module(f"labs.exercises.{exercise.name}.{file}")
