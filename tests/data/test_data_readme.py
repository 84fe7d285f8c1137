"""data/README.md names every table and every column, and no test that does not exist."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from utils.paths import DATA, ROOT

TEXT = (DATA / "README.md").read_text(encoding="utf-8")
TABLES = sorted(DATA.glob("**/*.csv"))


def missing(table: Path, text: str) -> list[str]:
    """The table's columns that the text does not name, and the table itself."""
    with table.open(encoding="utf-8", newline="") as file:
        columns = next(csv.reader(file))
    name = "tuned/<device>.csv" if table.parent.name == "tuned" else table.name
    return [each for each in (name, *columns) if f"`{each}`" not in text]


def lost(text: str) -> list[str]:
    """Files of the project that the text names and that are not there."""
    named = re.findall(r"`((?:tests|tools|utils)/[\w/]+\.py)`", text)
    return [name for name in named if not (ROOT / name).exists()]


@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.relative_to(DATA).as_posix())
def test_the_readme_names_each_table_and_each_of_its_columns(table):
    assert missing(table, TEXT) == []


def test_the_readme_names_files_that_exist():
    assert lost(TEXT) == []


def test_what_is_left_out_would_be_found():
    table = DATA / "published" / "transfers.csv"
    assert missing(table, TEXT.replace("`host_memory`", "")) == ["host_memory"]
    assert missing(table, TEXT.replace("`transfers.csv`", "")) == ["transfers.csv"]
    assert lost("`tests/data/test_nothing.py`") == ["tests/data/test_nothing.py"]
