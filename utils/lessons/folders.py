"""The folders `utils/lessons/lesson_NN/`, each with the code and texts of one lesson only."""

from __future__ import annotations

import tomllib
from pathlib import Path

LESSONS_PACKAGE = Path(__file__).parent


def lesson_folder(number: str) -> Path:
    """Return the folder of one lesson. number: such as "08"."""
    return LESSONS_PACKAGE / f"lesson_{number}"


def read_in_all(name: str) -> dict[str, dict[str, dict]]:
    """Read the TOML file of this name in each folder: number of the lesson -> its tables."""
    return {
        file.parent.name.removeprefix("lesson_"): tomllib.loads(file.read_text(encoding="utf-8"))
        for file in sorted(LESSONS_PACKAGE.glob(f"lesson_*/{name}"))
    }
