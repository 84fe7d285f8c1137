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
    """Return the path of the folder, and create it.

    It is a folder for temporary files if the usual one cannot be written.
    """
    chosen = os.environ.get(LEDGER)
    usual = Path(chosen).parent if chosen else user_data_path(NAME, appauthor=False)
    folder = usual if _can_be_written(usual) else Path(tempfile.gettempdir()) / NAME
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def is_page() -> bool:
    """Return True if the lesson is executed to make a page, not by a reader."""
    return bool(os.environ.get(PAGE))


def shown(path: Path) -> str:
    """Return a path as text, with ~ for the home folder."""
    home = Path.home()
    return f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else str(path)


def _can_be_written(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)
