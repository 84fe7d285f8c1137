"""The file that keeps the reader's predictions on the reader's computer.

It is in the folder where programs keep their data, and the reader may delete it at any time. A file
that is broken or of another version is renamed, not overwritten.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from utils.reader_folder import LEDGER, reader_folder, shown

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
    """Return the path of the file of predictions, in `reader_folder()`."""
    return reader_folder() / Path(os.environ.get(LEDGER, NAME)).name


def shown_path() -> str:
    """Return `path()` as text, with ~ for the home folder."""
    return shown(path())


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
