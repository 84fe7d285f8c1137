"""The rules that each lesson still breaks: `rule_exceptions.toml`.

`python -m tools.rule_exceptions` writes the file. Tests hold that it lists exactly the rules that
are broken, so it can only become shorter.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_suffix(".toml")


@cache
def exceptions() -> dict[str, tuple[str, ...]]:
    """Return the number of a lesson -> the names of the rules that it breaks; cached.

    Lessons that break no rule may be missing.
    """
    rows = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {number: tuple(names) for number, names in rows.items()}


def exceptions_of(number: str) -> tuple[str, ...]:
    """Return the names of the rules that one lesson breaks; () if it keeps all."""
    return exceptions().get(number, ())
