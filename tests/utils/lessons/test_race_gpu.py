"""Races on a GPU: `python -m pytest tests/utils/lessons/test_race_gpu.py -s` shows the times.

It keeps the solution of each exercise with a step of the course in a temporary folder, and races it
against that step and the library at the lesson's size.
"""

import pytest
from numba import cuda

from labs import EXERCISES
from utils import lessons as course
from utils.ladder import kept_functions
from utils.lessons.cards import Stack
from utils.lessons.own_kernels import twins
from utils.lessons.races import raced
from utils.reader_folder import LEDGER

pytestmark = pytest.mark.skipif(not cuda.is_available(), reason="a race needs a CUDA device")


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv(LEDGER, str(tmp_path / "predictions.json"))


@pytest.mark.parametrize("name", sorted(twins()))
def test_the_solution_of_an_exercise_races_at_the_size_of_its_lesson(name):
    kept_functions.keep(name, EXERCISES[name].solution)
    mine, course_step = raced(name)
    assert mine.time_ms > 0
    assert course_step.time_ms > 0
    shown = course.race(name)
    assert isinstance(shown, Stack)
    print(f"\n{shown.parts[0]}")
    assert shown._repr_html_()


def test_my_ladder_is_measured():
    for name in twins():
        kept_functions.keep(name, EXERCISES[name].solution)
    shown = course.my_ladder()
    print(f"\n{shown}")
    assert all(name in str(shown) for name in twins() if name != "loop_order")
