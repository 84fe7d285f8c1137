"""The table of outcomes, ``outcomes.csv``."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import astuple, fields

from .outcomes import HERE
from .run import OutcomeRow

PATH = HERE / "outcomes.csv"


def order(row: OutcomeRow) -> tuple:
    """Return the key by which the rows are sorted."""
    return row.file, row.test, row.outcome, row.reason


def read() -> list[OutcomeRow]:
    """Return the recorded rows, or none if there is no table yet."""
    if not PATH.exists():
        return []
    with PATH.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        return [OutcomeRow(**{**row, "count": int(row["count"])}) for row in rows]


def write(rows: Iterable[OutcomeRow]) -> None:
    with PATH.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(field.name for field in fields(OutcomeRow))
        writer.writerows(astuple(row) for row in sorted(rows, key=order))
