"""The reader's own file of predictions: small, theirs, and never in the way.

It lies where the reader's programs keep their data, and can be deleted at any time. A file that is
broken or of another version is put aside, not overwritten.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from platformdirs import user_data_path

PLACE = "COURSE_LEDGER"  # environment variable: another place for the file
# Environment variable, set while pages are made: nobody is there who could answer.
PAGE = "COURSE_PAGE"
VERSION = 1
NAME = "predictions.json"


@dataclass(frozen=True)
class Entry:
    """What is known of one question. value, measured: None while there is none.

    asked: whether `reveal` has asked for a prediction already.
    """

    value: float | str | list[str] | None = None
    measured: float | str | list[str] | None = None
    asked: bool = False

    @property
    def revealed(self) -> bool:
        return self.measured is not None


def place() -> Path:
    """Where the file lies, or will lie: where nothing can be written, among temporary files."""
    told = os.environ.get(PLACE)
    wanted = Path(told) if told else user_data_path("numba-gpu-kernels", appauthor=False) / NAME
    spare = Path(tempfile.gettempdir()) / f"numba-gpu-kernels-{NAME}"
    return wanted if _can_be_written(wanted) else spare


def shown_place() -> str:
    """`place` as people write it, with ~ for their own folder."""
    file = place()
    home = Path.home()
    return f"~/{file.relative_to(home).as_posix()}" if file.is_relative_to(home) else str(file)


def is_page() -> bool:
    """Whether the lesson is executed to make a page of it."""
    return bool(os.environ.get(PAGE))


def entries() -> dict[str, Entry]:
    """All entries by the question's name; {} without a file, or with one that cannot be read."""
    return read(place())


def read(file: Path) -> dict[str, Entry]:
    """As `entries`, from this file."""
    return _read(file) or {}


def keep(name: str, **changes) -> Path | None:
    """Change one entry and write the file.

    Returns the new name of the file that was there, if it could not be read as this version.
    """
    file, kept = place(), entries()
    kept[name] = replace(kept.get(name, Entry()), **changes)
    predictions = {name: asdict(entry) for name, entry in kept.items()}
    told = {"version": VERSION, "predictions": predictions}
    text = json.dumps(told, indent=1, ensure_ascii=False)
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
    """The entries; None where there is no file, or one that is broken or of another version."""
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        if told["version"] != VERSION:
            return None
        return {name: Entry(**entry) for name, entry in told["predictions"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
