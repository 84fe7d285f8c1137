"""Tests that every file of a lesson is found, and no file of another lesson."""

import subprocess
import sys

import pytest

from utils.errors import CourseError
from utils.lessons.files import files_of, notebook_of, page
from utils.lessons.folders import LESSONS_PACKAGE, lesson_folder
from utils.paths import ROOT, lessons

NUMBERS = list(lessons())


def test_every_lesson_has_a_folder_and_every_folder_a_lesson():
    folders = [lesson_folder(number) for number in NUMBERS]
    assert sorted(LESSONS_PACKAGE.glob("lesson_*/")) == sorted(folders)


@pytest.mark.parametrize("number", NUMBERS)
def test_the_files_of_a_lesson_are_there(number):
    groups = list(files_of(number).values())
    lesson, alone, tests, exercises, *_, answers, shared = groups
    assert all(path.exists() for paths in groups for path in paths)
    assert lesson
    assert {"__init__.py", "questions.toml"} <= {file.name for file in alone}
    assert any(file.name == "test_claims.py" for file in tests)
    assert all((folder / "exercise.py").exists() for folder in exercises)
    assert exercises
    exercises_at_the_end = "## Exercises" in notebook_of(number).read_text(encoding="utf-8")
    assert bool(answers) == exercises_at_the_end
    assert LESSONS_PACKAGE / "start_card.py" in shared


def test_the_files_of_lesson_08_are_found_by_what_its_code_says():
    printed = [line[:4] + line[4:].partition("  ")[0] for line in page("08").splitlines()]
    assert {
        "    notebooks/08_occupancy.ipynb",
        "    utils/lessons/lesson_08/resident_blocks.py",
        "    tests/utils/lessons/lesson_08/test_resident_blocks.py",
        "    labs/exercises/resident_blocks/",
        "    data/published/occupancy_paradox.csv",
        "    utils/lessons/occupancy.py",
    } <= set(printed)
    assert not any("lesson_09" in name for name in printed)


def test_what_makes_the_records_of_a_lesson_is_named():
    users = {file.name for file in files_of("14")["Other modules that use its folder"]}
    assert "big_loops.py" in users


def test_a_lesson_that_does_not_exist_is_refused_with_a_sentence():
    with pytest.raises(CourseError, match="There is no lesson '98': choose one of 00, 01"):
        files_of("98")
    command = [sys.executable, "-m", "utils.lessons", "where", "98"]
    process = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr.startswith("There is no lesson '98'")


def test_beside_a_module_is_what_its_docstring_says_first():
    module = "utils/lessons/lesson_08/resident_blocks.py"
    (line,) = (line for line in page("08").splitlines() if module in line)
    first = (ROOT / module).read_text(encoding="utf-8").splitlines()[0].strip('"')
    assert line == f"    {module}  {first}"


def test_beside_a_table_are_the_files_that_name_it():
    lines = [line.strip().partition("  ") for line in page("08").splitlines()]
    tables = {name: named_in for name, _, named_in in lines if name.endswith(".csv")}
    assert tables["data/measured/nvidia_h200/block_size.csv"] == "best_block/formula.py"
    assert "lesson_08/test_claims.py" in tables["data/published/claims.csv"]
