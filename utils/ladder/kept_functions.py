"""The reader's kernels and functions that `check` found right, kept as text.

Each is a file of its own in the folder `kernels` beside the predictions. The file is written anew
whenever `check` finds a submission right, and the reader may read, copy or delete it.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from utils.ladder.function_text import module_of, name_of, text_of
from utils.reader_folder import reader_folder


def file_of(name: str) -> Path:
    """Return the path of the file that keeps the function of an exercise."""
    return reader_folder() / "kernels" / f"{name}.py"


def keep(name: str, function) -> None:
    """Write a function's text, with all that it uses, into the file that is kept for an exercise.

    name: the exercise's name; the function may have another name. Raises CourseError if the
    function uses something that a text cannot hold.
    """
    text = _with_name(name, function)
    file = file_of(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f".{name}.{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(file)


def kept(name: str):
    """Return the function or kernel that is kept for an exercise, or "" if there is none.

    The same text gives the same object, so counts of it are made once.
    """
    text = kept_text(name)
    return text and getattr(_module(name, text), name)


def kept_text(name: str) -> str:
    """Return the text that is kept for an exercise, or "" if there is none."""
    try:
        return file_of(name).read_text(encoding="utf-8")
    except OSError:
        return ""


def kept_names() -> list[str]:
    """Return the names of all exercises for which a function is kept, in alphabetical order."""
    return sorted(file.stem for file in (reader_folder() / "kernels").glob("[!.]*.py"))


def is_kept(name: str, function) -> bool:
    """Return True if the text that is kept for an exercise is exactly that of this function.

    Raises CourseError if the function uses something that a text cannot hold.
    """
    return kept_text(name) == _with_name(name, function)


def _with_name(name: str, function) -> str:
    """Return the text of a function's module, in which the function also has this name.

    If the function's own name is another one, a last line binds this name to it. Raises CourseError
    if the function uses something that a text cannot hold.
    """
    text, own = text_of(function), name_of(function)
    return text if own == name else f"{text}\n\n{name} = {own}\n"


@lru_cache(maxsize=128)
def _module(name: str, text: str):
    """Return the module made of a kept text; the result is cached."""
    return module_of(f"kept_{name}", text)
