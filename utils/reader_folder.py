"""The folder on this computer that keeps the reader's predictions and kernels."""

import os
import tempfile
from pathlib import Path

from platformdirs import user_data_path

# Environment variable: another path for the file of the reader's predictions. All that the course
# keeps for the reader is in the folder of this file.
LEDGER = "COURSE_LEDGER"
# Environment variable, set while pages are made, when there is no reader to answer.
PAGE = "COURSE_PAGE"
NAME = "numba-gpu-kernels"


def reader_folder() -> Path:
    """Return the path of the folder that keeps the reader's predictions and kernels, and create it.

    It is that of the file in `COURSE_LEDGER`, else the operating system's folder for user data. If
    that cannot be written, it is a folder for temporary files.
    """
    chosen = os.environ.get(LEDGER)
    usual = Path(chosen).parent if chosen else user_data_path(NAME, appauthor=False)
    folder = usual if _can_be_written(usual) else Path(tempfile.gettempdir()) / NAME
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def is_page() -> bool:
    """Return True if `COURSE_PAGE` is set to any text, because no reader runs the lesson."""
    return bool(os.environ.get(PAGE))


def shown(path: Path) -> str:
    """Return a path as text, which begins with "~/" instead of the home folder if it is there."""
    home = Path.home()
    return f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else str(path)


def _can_be_written(folder: Path) -> bool:
    """Create a folder if it is missing; return True if files can be written to it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)
