"""The rooms of the lessons: `utils/lessons/lesson_NN/` holds what serves lesson NN alone."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOMS = Path(__file__).parent


def room(number: str) -> Path:
    """The folder of what serves one lesson alone. number: such as "08"."""
    return ROOMS / f"lesson_{number}"


def read_in_all(name: str) -> dict[str, dict[str, dict]]:
    """The tables of the TOML files with this name, by the number of the lesson that has one."""
    return {
        file.parent.name.removeprefix("lesson_"): tomllib.loads(file.read_text(encoding="utf-8"))
        for file in sorted(ROOMS.glob(f"lesson_*/{name}"))
    }
