"""The table of outcomes, ``outcomes.csv``."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import astuple, fields

from .outcomes import HERE
from .run import Row

PATH = HERE / "outcomes.csv"


def order(row: Row) -> tuple:
    """By which the rows are sorted."""
    return row.file, row.test, row.outcome, row.reason


def read() -> list[Row]:
    """The kept rows; none where there is no table yet."""
    if not PATH.exists():
        return []
    with PATH.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        return [Row(**{**row, "count": int(row["count"])}) for row in rows]


def write(rows: Iterable[Row]) -> None:
    with PATH.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(field.name for field in fields(Row))
        writer.writerows(astuple(row) for row in sorted(rows, key=order))
