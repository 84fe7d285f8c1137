"""Reductions compared: launches, memory, rates, and the sentences for missing values."""

import pytest

from reduce_kernels import LADDER
from utils.errors import CourseError
from utils.lessons.lesson_20 import reduction_comparison
from utils.lessons.lesson_20.reduction_comparison import as_called, bytes_under_way, needed, rates
from utils.machine import devices


def test_launches_and_bytes_are_those_of_the_steps_own_calls():
    blocks = LADDER.step("reduce9").variant().launch(LADDER.parse("2^28")).blocks
    assert needed(LADDER.step("reduce8"), "2^28") == (2, 4 * blocks)
    assert needed(LADDER.step("reduce9"), "2^28") == (1, 4 * blocks + 4)


def test_many_partial_sums_take_a_launch_more():
    assert needed(LADDER.step("reduce8"), "2^30")[0] == 3


def test_a_rate_is_bytes_over_the_recorded_time():
    shown = rates({"tickets": LADDER.step("reduce9")}, "2^30")
    assert shown.head == ("GB/s", "2³⁰")
    assert [row[0] for row in shown.rows] == ["tickets", "CUB (CuPy)"]
    assert shown.rows[0][1] == "4,684"


def test_without_a_compiler_a_sentence_stands_in_place_of_the_table(monkeypatch):
    def refuse(*arguments):
        raise CourseError("There is no compiler.")

    monkeypatch.setattr(reduction_comparison, "xray", refuse)
    text = str(bytes_under_way(reduce8=LADDER.step("reduce8")))
    assert text == "There is no compiler. The lesson goes on without this table."


@pytest.mark.parametrize(("name", "told"), [("H200", "10.2 us"), ("T4", "not recorded")])
def test_calls_are_shown_where_they_are_recorded(monkeypatch, name, told):
    monkeypatch.setattr(reduction_comparison, "device_shown", lambda: devices.find(name))
    assert told in str(as_called("2^10"))
