"""Short names of source files, without the folders of this machine."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path


def short_names(files: Iterable[str], folder: Path | None = None) -> dict[str, str]:
    """For each file a name of its own that a reader knows.

    It is the path below ``folder`` (the current one if none is given), else the last part of the
    path. A notebook's cell is ``cell In[3]``. Of two files with one such name the second gets a
    number.
    """
    names: dict[str, str] = {}
    for file in files:
        if file not in names:
            names[file] = _unlike(_short(file, folder or Path.cwd()), set(names.values()))
    return names


def elsewhere(file: str, kernel_file: str) -> str:
    """What follows a finding in another file than the kernel's: `` (helpers.py)``, say."""
    if file == kernel_file:
        return ""
    return f" ({short_names((kernel_file, file))[file]})"


def _unlike(name: str, taken: set[str]) -> str:
    number, chosen = 1, name
    while chosen in taken:
        number += 1
        chosen = f"{name} ({number})"
    return chosen


def _short(file: str, folder: Path) -> str:
    cell = _cell_name(file)
    if cell:
        return cell
    path = Path(file)
    if path.is_absolute() and path.is_relative_to(folder):
        return path.relative_to(folder).as_posix()
    return path.name


def _cell_name(file: str) -> str | None:
    """What IPython calls the cell with this file name; None where it is no cell."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    named = getattr(getattr(shell, "compile", None), "format_code_name", lambda name: None)(file)
    if named:
        return f"cell {named[1]}"
    old = re.fullmatch(r"<ipython-input-(\d+)-\w+>", file)
    if old:
        return f"cell In[{old[1]}]"
    return "cell" if re.search(r"[\\/]ipykernel_\d+[\\/]\d+\.py$", file) else None
