"""Edited copies of kernel modules: the real source code with small replacements, as a new module.

Lessons use them to show what a line is for, and tests to prove that a check catches a wrong kernel.
The source code is always read from the kernel's file, so that a copy cannot become outdated.
"""

from __future__ import annotations

import difflib
import linecache
from dataclasses import dataclass
from types import ModuleType

from utils.errors import CourseError
from utils.ladder.function_text import module_of


@dataclass(frozen=True)
class Edit:
    """A replacement of the text ``old`` by ``new`` in a module's source code.

    ``occurrence`` is the number of the one occurrence to replace, counted from 1; 0 replaces all.
    """

    old: str
    new: str
    occurrence: int = 0


def edited(module: ModuleType, *edits: Edit) -> ModuleType:
    """Apply edits in order to the source code of a module, execute it, and return the new module.

    The new module is registered in `sys.modules`, and its source lines in `linecache`, where
    tracebacks and the virtual GPU find them. ``module`` and its file do not change. Raises
    CourseError if the source code does not contain the old text of an edit, or not often enough for
    its ``occurrence``.
    """
    text = source_of(module)
    for edit in edits:
        text = _apply(edit, text, module.__name__)
    return module_of(f"{module.__name__}_edited", text)


def source_of(module: ModuleType) -> str:
    """Return the source code of a module as text, also of a module made by `edited`."""
    return "".join(linecache.getlines(module.__file__))


def difference(before: str, after: str, context: int) -> list[str]:
    """Return the lines of a unified diff between two texts, without the two header lines.

    Lines of the texts begin with "+", "-" or " ", and the header of a hunk with "@@". For equal
    texts the list is empty. context: the number of unchanged lines around each change.
    """
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=context, lineterm="")
    return list(lines)[2:]


def _apply(edit: Edit, text: str, name: str) -> str:
    """Return the text after an edit.

    Raises CourseError if the old text is not in it, or not often enough for the edit's occurrence.
    name: of the module, for the error.
    """
    count = text.count(edit.old)
    if count < max(1, edit.occurrence):
        raise CourseError(
            f"{name} holds {edit.old!r} {count} times, and occurrence {edit.occurrence or 1} is "
            "needed: compare the edit with the file."
        )
    if not edit.occurrence:
        return text.replace(edit.old, edit.new)
    parts = text.split(edit.old)
    at = edit.occurrence
    return edit.old.join(parts[:at]) + edit.new + edit.old.join(parts[at:])
