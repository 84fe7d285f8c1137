"""Every file of a lesson is found, and nothing that belongs to another lesson."""

import subprocess
import sys

import pytest

from utils.errors import CourseError
from utils.lessons.rooms import ROOMS, room
from utils.lessons.where import files_of, page
from utils.paths import NOTEBOOKS, ROOT

NUMBERS = sorted(file.name[:2] for file in NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))


def test_every_lesson_has_a_room_and_every_room_a_lesson():
    assert sorted(ROOMS.glob("lesson_*")) == [room(number) for number in NUMBERS]


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
    assert answers
    assert ROOMS / "starting.py" in shared


def test_the_files_of_lesson_08_are_found_by_what_its_code_says():
    printed = page("08").splitlines()
    assert {
        "    notebooks/08_occupancy.ipynb",
        "    utils/lessons/lesson_08/rack.py",
        "    tests/utils/lessons/lesson_08/test_rack.py",
        "    labs/exercises/resident_blocks/",
        "    data/published/occupancy_paradox.csv",
        "    utils/lessons/occupancy.py",
    } <= set(printed)
    assert not any("lesson_09" in name for name in printed)


def test_what_makes_the_records_of_a_lesson_is_named():
    makers = {file.name for file in files_of("14")["What else uses its room"]}
    assert "big_loops.py" in makers


def test_a_lesson_that_does_not_exist_is_refused_with_a_sentence():
    with pytest.raises(CourseError, match="There is no lesson '98': choose one of 00, 01"):
        files_of("98")
    command = [sys.executable, "-m", "utils.lessons", "where", "98"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("There is no lesson '98'")
