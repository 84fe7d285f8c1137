"""The lines that a reader has changed in a kernel, for tasks in which a few lines suffice."""

from __future__ import annotations

import ast
from difflib import SequenceMatcher

from labs.checking.exercise import KernelExercise
from labs.checking.phrasing import counted
from utils.translation import translate
from virtual_gpu.common.source import read_source


def notes(exercise: KernelExercise, kernel) -> tuple[str, ...]:
    """Return a tuple of one note if the reader changed more lines than needed, else ().

    More than needed means more than the exercise's `lines_to_change`. The note is a sentence in the
    reader's language. It says that the kernel is right, so the caller must have checked that.
    Exercises whose kind is not "change", or whose starter has no line yet, always give an empty
    tuple.
    """
    if exercise.kind != "change" or _lines(exercise.starter)[1:] == ["pass"]:
        return ()
    number, enough = changed_lines(exercise.starter, kernel), exercise.lines_to_change
    if number <= enough:
        return ()
    note = translate(
        "Your kernel differs from the given one in {lines}, and it is right. There is also a "
        "solution that differs in {enough}.",
        lines=counted(number, "line"),
        enough=counted(enough, "line"),
    )
    return (note,)


def changed_lines(before, after) -> int:
    """Return the number of lines in which two kernels differ.

    A line that was replaced, added or removed counts once. Comments, empty lines, spaces and the
    names of the kernels do not count.
    """
    matcher = SequenceMatcher(None, _lines(before), _lines(after), autojunk=False)
    return sum(
        max(old_end - old, new_end - new)
        for tag, old, old_end, new, new_end in matcher.get_opcodes()
        if tag != "equal"
    )


def _lines(kernel) -> list[str]:
    """Return the lines of a kernel's source code, without its name, comments and empty lines.

    The first line holds the parameters, the others the body. All are spelled as `ast.unparse`
    spells them, so that spaces do not matter.
    """
    tree = read_source(kernel.py_func).tree
    body = (ast.unparse(statement) for statement in tree.body)
    return [ast.unparse(tree.args), *"\n".join(body).splitlines()]
