"""The folders `utils/lessons/lesson_NN/`, each with the code and texts of one lesson only."""

from __future__ import annotations

import tomllib
from pathlib import Path

LESSONS_PACKAGE = Path(__file__).parent


def lesson_folder(number: str) -> Path:
    """Return the path of one lesson's folder, which need not exist.

    number: the number of the lesson, such as "08".
    """
    return LESSONS_PACKAGE / f"lesson_{number}"


def read_in_all(name: str) -> dict[str, dict[str, dict]]:
    """Read the TOML file of this name in each lesson's folder and return their contents.

    The result maps the number of a lesson, such as "08", to the tables of its file by their names.
    Lessons without the file are left out.
    """
    return {
        file.parent.name.removeprefix("lesson_"): tomllib.loads(file.read_text(encoding="utf-8"))
        for file in sorted(LESSONS_PACKAGE.glob(f"lesson_*/{name}"))
    }
