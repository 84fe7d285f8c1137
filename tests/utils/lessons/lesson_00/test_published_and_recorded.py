"""Published and recorded steps appear together under the course's names."""

import pytest

from utils.errors import CourseError
from utils.lessons.lesson_00.published_and_recorded import then_and_now
from utils.machine import devices

H200 = devices.find("H200")


def test_what_the_sources_call_trivial_and_shared_stands_beside_naive_and_tiled():
    said = then_and_now(H200, "naive", "tiled").alt_text
    naive, _, tiled = said.partition("tiled reaches")
    assert "naive reaches 6.3 % on C2070" in naive
    assert "on NVIDIA H200" in naive
    for device in ("C2070", "Tesla K40", "NVIDIA H200"):
        assert f"on {device}" in tiled
    assert "shared" not in said
    assert "trivial" not in said


def test_a_step_that_no_source_has_is_refused():
    with pytest.raises(CourseError):
        then_and_now(H200, "guard_free")
