"""What if this line were different? A kernel's real source with a small edit, as a new module.

Lessons use it to show what a line is for, and tests to prove that a check catches a wrong kernel.
The text always comes from the file itself, so that it cannot drift from it.
"""

from __future__ import annotations

import difflib
import hashlib
import linecache
import sys
from dataclasses import dataclass
from types import ModuleType

from utils.errors import CourseError


@dataclass(frozen=True)
class Edit:
    """Replace ``old`` by ``new``. ``occurrence`` (from 1) names one of several; 0 takes all."""

    old: str
    new: str
    occurrence: int = 0


def edited(module: ModuleType, *edits: Edit) -> ModuleType:
    """A new module made from the source code of ``module`` with the edits applied in order.

    Its lines can be read by tracebacks and by the virtual GPU. Raises CourseError when the text of
    an edit is not there as often as it says.
    """
    text = source_of(module)
    for edit in edits:
        text = _apply(edit, text, module.__name__)
    digest = hashlib.sha1(text.encode()).hexdigest()[:8]
    variant = ModuleType(f"{module.__name__}_edited_{digest}")
    variant.__file__ = f"<{variant.__name__}>"
    linecache.cache[variant.__file__] = (len(text), None, text.splitlines(True), variant.__file__)
    sys.modules[variant.__name__] = variant  # a step finds its file by name
    exec(compile(text, variant.__file__, "exec"), variant.__dict__)
    return variant


def source_of(module: ModuleType) -> str:
    """The source code of a module, edited or not."""
    return "".join(linecache.getlines(module.__file__))


def difference(before: str, after: str, context: int) -> list[str]:
    """The lines of a unified diff between two texts, without its header."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=context, lineterm="")
    return list(lines)[2:]


def _apply(edit: Edit, text: str, name: str) -> str:
    found = text.count(edit.old)
    if found < max(1, edit.occurrence):
        raise CourseError(
            f"{name} holds {edit.old!r} {found} times, and occurrence {edit.occurrence or 1} is "
            "needed: compare the edit with the file."
        )
    if not edit.occurrence:
        return text.replace(edit.old, edit.new)
    parts = text.split(edit.old)
    at = edit.occurrence
    return edit.old.join(parts[:at]) + edit.new + edit.old.join(parts[at:])
