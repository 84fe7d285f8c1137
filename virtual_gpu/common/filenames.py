"""Short display names of source files, without the folders of this machine."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path


def short_names(files: Iterable[str], folder: Path | None = None) -> dict[str, str]:
    """Return a dict from each file to a unique display name, in the order of ``files``.

    The name is the path relative to ``folder`` (by default the current folder) if the file is an
    absolute path below it, and otherwise the base name. A notebook's cell is named ``cell In[3]``,
    or ``cell`` if its number is unknown. If two files would get the same name, the second gets a
    number, such as ``helpers.py (2)``.
    """
    names: dict[str, str] = {}
    for file in files:
        if file not in names:
            names[file] = _unique_name(_short(file, folder or Path.cwd()), set(names.values()))
    return names


def elsewhere(file: str, kernel_file: str) -> str:
    """Return a suffix such as `` (helpers.py)``, or "" if ``file`` is the kernel's file."""
    if file == kernel_file:
        return ""
    return f" ({short_names((kernel_file, file))[file]})"


def _unique_name(name: str, taken: set[str]) -> str:
    """Return the name, with a number such as ``helpers.py (2)`` if it is in ``taken``."""
    number, chosen = 1, name
    while chosen in taken:
        number += 1
        chosen = f"{name} ({number})"
    return chosen


def _short(file: str, folder: Path) -> str:
    """Return the display name of a file: of a cell, relative to ``folder``, or the base name."""
    cell = _cell_name(file)
    if cell:
        return cell
    path = Path(file)
    if path.is_absolute() and path.is_relative_to(folder):
        return path.relative_to(folder).as_posix()
    return path.name


def _cell_name(file: str) -> str | None:
    """Return "cell In[3]" for the file of a notebook cell, or "cell" if its number is unknown.

    Returns None if the file is not that of a cell.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    cell = getattr(getattr(shell, "compile", None), "format_code_name", lambda name: None)(file)
    if cell:
        return f"cell {cell[1]}"
    match = re.fullmatch(r"<ipython-input-(\d+)-\w+>", file)
    if match:
        return f"cell In[{match[1]}]"
    return "cell" if re.search(r"[\\/]ipykernel_\d+[\\/]\d+\.py$", file) else None
