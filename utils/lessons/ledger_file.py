"""The file that keeps the reader's predictions on the reader's computer.

It is in the folder where programs keep their data, and the reader may delete it at any time. A file
that is broken or of another version is renamed, not overwritten.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from platformdirs import user_data_path

PLACE = "COURSE_LEDGER"  # environment variable: another path for the file
# Environment variable, set while pages are made, when there is no reader to answer.
PAGE = "COURSE_PAGE"
VERSION = 1
NAME = "predictions.json"


@dataclass(frozen=True)
class Entry:
    """The reader's prediction for one question and the measured answer.

    value: the prediction, None until there is one. measured: the answer, None until it is revealed.
    asked: True if `reveal` has asked for a prediction already.
    """

    value: float | str | list[str] | None = None
    measured: float | str | list[str] | None = None
    asked: bool = False

    @property
    def revealed(self) -> bool:
        return self.measured is not None


def path() -> Path:
    """Return the path of the file; it is a temporary file if the usual folder is read-only."""
    chosen = os.environ.get(PLACE)
    usual = Path(chosen) if chosen else user_data_path("numba-gpu-kernels", appauthor=False) / NAME
    temporary = Path(tempfile.gettempdir()) / f"numba-gpu-kernels-{NAME}"
    return usual if _can_be_written(usual) else temporary


def shown_path() -> str:
    """Return `path()` as text, with ~ for the home folder."""
    file = path()
    home = Path.home()
    return f"~/{file.relative_to(home).as_posix()}" if file.is_relative_to(home) else str(file)


def is_page() -> bool:
    """Return True if the lesson is executed to make a page, not by a reader."""
    return bool(os.environ.get(PAGE))


def entries() -> dict[str, Entry]:
    """Return all entries by the question's name; {} if there is no readable file."""
    return read(path())


def read(file: Path) -> dict[str, Entry]:
    """Return the entries of one file by the question's name; {} if it cannot be read."""
    return _read(file) or {}


def keep(name: str, **changes) -> Path | None:
    """Change fields of one entry and write the file.

    Returns the new path of an old file that could not be read and was renamed, else None.
    """
    file, changed = path(), entries()
    changed[name] = replace(changed.get(name, Entry()), **changes)
    predictions = {name: asdict(entry) for name, entry in changed.items()}
    content = {"version": VERSION, "predictions": predictions}
    text = json.dumps(content, indent=1, ensure_ascii=False)
    aside = _put_aside(file) if file.exists() and _read(file) is None else None
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)
    return aside


def _can_be_written(file: Path) -> bool:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(file.parent, os.W_OK)


def _put_aside(file: Path) -> Path:
    number = len(list(file.parent.glob(f"{file.stem}.*.old"))) + 1
    return file.replace(file.with_name(f"{file.stem}.{number}.old"))


def _read(file: Path) -> dict[str, Entry] | None:
    """Return the entries; None if the file is missing, broken or of another version."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        if content["version"] != VERSION:
            return None
        return {name: Entry(**entry) for name, entry in content["predictions"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
