"""Tests that the syllabus has every lesson, with the minutes that the lesson itself states."""

import re

import nbformat
import pytest

from utils.paths import NOTEBOOKS, is_extra, lessons

SYLLABUS = (NOTEBOOKS / "README.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| \[(?P<title>[^]]+)\]\((?P<file>[^)]+)\) \| (?P<minutes>[^|]+) \|", re.M)
ROWS = {row["file"]: row for row in ROW.finditer(SYLLABUS)}


def opening(file) -> str:
    """Return the first two cells of prose, which have the title, the goals and the minutes."""
    cells = nbformat.read(file, as_version=4).cells
    return "\n\n".join([cell.source for cell in cells if cell.cell_type == "markdown"][:2])


def test_every_lesson_has_a_row_in_reading_order():
    assert list(ROWS) == [file.name for file in lessons().values()]


@pytest.mark.parametrize("name", ROWS)
def test_title_and_minutes_are_those_of_the_lesson(name):
    text = opening(NOTEBOOKS / name)
    title = text.splitlines()[0].removeprefix("# ")
    assert title.startswith(ROWS[name]["title"])
    stated = re.search(r"\*\*Time:\*\* (two sittings of )?about (\d+)(?: and (\d+))? minutes", text)
    assert stated, text
    two, first, second = stated.groups()
    minutes = f"{first} + {second or first}" if two else first
    assert ROWS[name]["minutes"].strip() == minutes


def test_the_semester_takes_every_lesson_once_or_in_its_two_sittings():
    semester = SYLLABUS[SYLLABUS.index("**One semester**") :]
    taken = re.findall(r"\((\d\d_\w+\.ipynb)\)", semester)
    twice = {name for name in taken if taken.count(name) == 2}
    numbered = {file.name for number, file in lessons().items() if not is_extra(number)}
    assert set(taken) == numbered
    assert all(len(sittings(name)) == 2 for name in twice)
    assert len(taken) == len(numbered) + len(twice)


def sittings(name: str) -> list[int]:
    """Return the minutes of each sitting of a lesson, in order."""
    return [int(minutes) for minutes in ROWS[name]["minutes"].split("+")]


def test_a_week_of_the_semester_takes_about_two_hours():
    weeks = re.findall(r"^\| \d+ \| (.+?) \|", SYLLABUS, re.M)
    assert len(weeks) == 15
    for week in weeks:
        minutes = 0
        for name, only in re.findall(r"\((\d\d_\w+\.ipynb)\)( first| second)?", week):
            of = sittings(name)
            minutes += {"": sum(of), " first": of[0], " second": of[-1]}[only]
        assert minutes == pytest.approx(120, abs=30), week


def test_the_way_of_three_hours_takes_one_sitting_of_each_of_its_lessons():
    way = re.search(r"^\*\*Three hours\*\*.*$", SYLLABUS, re.M)[0]
    minutes = sum(sittings(name)[0] for name in re.findall(r"\((\d\d_\w+\.ipynb)\)", way))
    assert minutes == pytest.approx(180, rel=0.15)
