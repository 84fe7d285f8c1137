from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest

from utils.errors import CourseError
from utils.measuring import rows
from utils.measuring.rows import Date


@dataclass(frozen=True)
class Size:
    m: int
    n: int


@dataclass(frozen=True)
class Row:
    kernel: str
    size: Size
    day: Date
    time_ms: float
    note: str | None
    reads: tuple[int, ...]
    mix: Mapping[str, int]
    peak: float | None = None


ROW = Row("naive", Size(8, 16), Date("2026-11-21"), 0.25, None, (3, 4), {"FFMA": 64, "LDS": 4}, 1.5)
TEXT = (
    "kernel,m,n,day,time_ms,note,reads,mix,peak\n"
    "naive,8,16,2026-11-21,0.25,,3 4,FFMA:64 LDS:4,1.5\n"
)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "folder" / "table.csv"


def test_a_row_is_written_and_read_back(file):
    rows.write(file, [ROW], Row)
    assert file.read_text() == TEXT
    assert rows.read(file, Row) == (ROW,)


def test_floats_have_so_many_digits(file):
    rows.write(file, [replace(ROW, time_ms=1 / 3)], Row, digits=2)
    assert ",0.33," in file.read_text()


def test_a_column_with_a_default_may_be_missing(file):
    file.parent.mkdir()
    file.write_text(TEXT.replace(",peak", "").replace(",1.5", ""))
    assert rows.read(file, Row) == (replace(ROW, peak=None),)


def test_a_file_is_read_once_until_it_changes(file):
    rows.write(file, [ROW], Row)
    first = rows.read(file, Row)
    assert rows.read(file, Row) is first
    file.write_text(TEXT.replace("0.25", "0.26"))
    os.utime(file, ns=(1, 1))
    assert rows.read(file, Row)[0].time_ms == 0.26


def test_no_file_gives_no_rows_where_that_is_allowed(file):
    assert rows.read_if_any(file, Row) == ()
    with pytest.raises(CourseError, match=r"There is no .*table\.csv"):
        rows.read(file, Row)


@pytest.mark.parametrize(
    "old, new, sentence",
    [
        (",8,", ",eight,", "line 2, column m: 'eight' is no whole number"),
        (",0.25,", ",nan,", "line 2, column time_ms: 'nan' is no number"),
        ("2026-11-21", "21.11.2026", "line 2, column day: '21.11.2026' is no date such as"),
        ("naive", "", "line 2, column kernel: '' must not be empty"),
        (",3 4,", ",3 x,", "line 2, column reads: '3 x' is no whole number"),
        (",1.5", "", "line 2, column peak: the line has 8 cells and the first one 9"),
        ("time_ms", "time", "line 1, has other columns .*missing time_ms, not known time"),
    ],
)
def test_what_cannot_be_is_named_by_file_line_and_column(file, old, new, sentence):
    file.parent.mkdir()
    file.write_text(TEXT.replace(old, new))
    with pytest.raises(CourseError, match=r"table\.csv, " + sentence):
        rows.read(file, Row)


def test_a_value_that_could_not_be_read_leaves_the_file_as_it_was(file):
    rows.write(file, [ROW], Row)
    with pytest.raises(CourseError, match="column day: 'today' is no date"):
        rows.write(file, [ROW, replace(ROW, day=Date("today"))], Row)
    assert file.read_text() == TEXT
    assert [path.name for path in file.parent.iterdir()] == ["table.csv"]
