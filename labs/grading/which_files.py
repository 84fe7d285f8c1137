"""Which files of a folder or a zip are a student's work, and why the others are not read."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ENDINGS = (".py", ".ipynb")
# Folders that a tool makes, besides those whose names begin with a dot or two underscores.
OF_A_TOOL = frozenset({"venv", "env", "virtualenv", "node_modules", "site-packages"})
MOST_NAMED = 50  # files of one student that are named; a repository may hold thousands
_VENV = "pyvenv.cfg"  # the file by which Python knows a virtual environment
# Of Jupyter, of Windows, of macOS and of GNOME; a number in brackets is that of a browser.
_COPY = re.compile(
    r"(?P<original>.+?)(-Copy\d+| - Copy( \(\d+\))?| copy( \d+)?| \((another )?copy\)"
    r"|(?P<download> ?\(\d+\)))"
)
OF_A_BROWSER = (
    "It looks like a second download of the file without the number, which is read instead: if "
    "this one is newer, ask for it alone."
)


@dataclass(frozen=True)
class LeftOut:
    """A file or folder that was not read.

    student: the name of the submission to which it belongs. file: the file's or folder's name. why:
    a sentence on why it was not read.
    """

    student: str
    file: str
    why: str


def left_out_of(
    path: PurePosixPath, beside: Collection[PurePosixPath], endings: tuple[str, ...]
) -> tuple[PurePosixPath, str] | None:
    """Return None if a file is to be read, or else (path that is not read, sentence on why).

    The path in the result is the file's own, or that of a whole folder that a tool made. path: the
    file's path, relative to the student's folder. beside: the paths of all files in the student's
    folder. endings: the suffixes of files that are read, in lower case.
    """
    for folder in reversed(path.parents[:-1]):
        if is_of_a_tool(folder.name) or folder / _VENV in beside:
            return folder, "It is a folder that a tool made."
    if path.name.startswith((".", "__")):
        return path, "Its name begins as those of a tool's files do."
    if path.suffix.lower() not in endings:
        *others, last = (f"`{one}`" for one in endings)
        return path, f"The grader reads {', '.join(others)} and {last}: ask for one of these."
    copied = _COPY.fullmatch(path.stem)
    if copied and path.with_name(copied["original"] + path.suffix) in beside:
        return path, OF_A_BROWSER if copied["download"] else "It is a copy beside its original."
    return None


def is_of_a_tool(folder: str) -> bool:
    """Return True for the name of a folder that a tool creates, such as `.git` or `venv`.

    These are the names in OF_A_TOOL, in small or capital letters, and all names that begin with a
    dot or two underscores.
    """
    return folder.startswith((".", "__")) or folder.lower() in OF_A_TOOL


def files_in(folder: Path) -> Iterator[PurePosixPath]:
    """Yield the paths of all files in a folder and its subfolders, relative to the folder, sorted.

    A folder that a tool created, such as `.git`, is not searched: only a path `pyvenv.cfg` in it is
    yielded, whether or not the file exists. A link to a folder is yielded like a file and not
    followed. Raises OSError if a folder cannot be read.
    """
    found = []
    for place, folders, files in os.walk(folder, onerror=_raise):
        inner = Path(place).relative_to(folder)
        links = [name for name in folders if Path(place, name).is_symlink()]
        found += [PurePosixPath(inner, name) for name in (*files, *links)]
        for name in [one for one in folders if is_of_a_tool(one) and one not in links]:
            found.append(PurePosixPath(inner, name, _VENV))
        folders[:] = [name for name in folders if not is_of_a_tool(name)]
    yield from sorted(found)


def _raise(error: OSError) -> None:
    """Raise this error, for `os.walk`, which would ignore it otherwise."""
    raise error
