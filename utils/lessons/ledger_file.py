"""The file that keeps the reader's predictions on the reader's computer.

It is in the folder where programs keep their data, and the reader may delete it at any time. A file
that is broken or of another version is renamed, not overwritten.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path

from utils.reader_folder import LEDGER, reader_folder, shown

VERSION = 1
NAME = "predictions.json"


@dataclass(frozen=True)
class Entry:
    """The reader's prediction for one question, and the measured answer.

    value: the prediction, None if the reader has made none. measured: the answer, None until it is
    revealed. asked: the name of the last run of a cell in which `reveal` asked the reader for a
    prediction, from `predictions.run_of_cell`; "" if it has not asked.
    """

    value: float | str | list[str] | None = None
    measured: float | str | list[str] | None = None
    asked: str = ""

    @property
    def revealed(self) -> bool:
        """True if the reader has seen the measured answer."""
        return self.measured is not None


def path() -> Path:
    """Return the path of the file of predictions in `reader_folder()`; it need not exist.

    Its name is `NAME`, or the file name in the environment variable `LEDGER` if that is set.
    """
    return reader_folder() / Path(os.environ.get(LEDGER, NAME)).name


def shown_path() -> str:
    """Return the path of the file of predictions as text, with ~ for the home folder."""
    return shown(path())


def entries() -> dict[str, Entry]:
    """Return the reader's entries by the question's name; {} if the file cannot be read."""
    return read(path())


def read(file: Path) -> dict[str, Entry]:
    """Return the entries of one file of predictions by the question's name.

    The result is {} if the file is missing, broken or of another version.
    """
    return _read(file) or {}


def keep(name: str, **changes) -> Path | None:
    """Change fields of one entry and write the file of predictions.

    name: the question's name; its entry is created if it is missing. changes: new values of fields
    of the Entry. An existing file that cannot be read is renamed, and its new path is returned;
    otherwise the result is None.
    """
    changed = entries()
    changed[name] = replace(changed.get(name, Entry()), **changes)
    return _write(changed)


def forget(lesson: str) -> None:
    """Remove the entries of a lesson from the file; those of the other lessons stay.

    lesson: its number, such as "07". Without entries of the lesson, nothing is written.
    """
    before = entries()
    kept = {name: entry for name, entry in before.items() if name.partition(".")[0] != lesson}
    if len(kept) < len(before):
        _write(kept)


def _write(changed: dict[str, Entry]) -> Path | None:
    """Write these entries, by the question's name, as the file of predictions.

    An existing file that could not be read is renamed first, and its new path is returned;
    otherwise the result is None. If the write fails, a file that could be read is unchanged.
    """
    file = path()
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
    """Rename a file to "NAME.N.old" and return the new path.

    NAME is the file's name without its suffix, and N is the least number that is free.
    """
    others = (file.with_name(f"{file.stem}.{number}.old") for number in count(1))
    return file.replace(next(other for other in others if not other.exists()))


def _read(file: Path) -> dict[str, Entry] | None:
    """Return the entries of a file of predictions by the question's name.

    The result is None if the file is missing, broken or of another version.
    """
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        if content["version"] != VERSION:
            return None
        return {name: Entry(**entry) for name, entry in content["predictions"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
