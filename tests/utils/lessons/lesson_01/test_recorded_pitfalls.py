"""A lesson reads recorded timing pitfalls, and has something to time without a GPU."""

import pytest

from gemm_kernels import LADDER
from utils.errors import CourseError
from utils.lessons.lesson_01 import recorded_pitfalls as pitfalls
from utils.machine import devices
from utils.measuring.real_queue import CpuQueue


def test_a_series_is_found_by_kernel_size_and_timer():
    one = pitfalls.recorded_series("copy", 2**20, "hot")
    assert (one.kernel, one.elements, one.timer) == ("copy", 2**20, "hot")
    assert pitfalls.recorded_series("naive", 256, "wall").n == 256


def test_what_is_not_recorded_says_how_to_record_it():
    with pytest.raises(CourseError, match="pitfalls --record"):
        pitfalls.recorded_series("naive", 257, "wall")


def test_a_device_without_series_shows_those_of_the_course(monkeypatch):
    monkeypatch.setattr(pitfalls, "device_shown", lambda: devices.find("T4"))
    assert "NVIDIA H200" in str(pitfalls.draw_pitfalls("naive", 256, "hot"))


def test_strips_are_named_in_words():
    drawn = pitfalls.draw_pitfalls("naive", 256, *pitfalls.NAMES)
    assert all(name in drawn.body for name in pitfalls.NAMES.values())


def test_without_a_gpu_a_thread_of_the_cpu_is_timed(monkeypatch):
    monkeypatch.setattr(devices, "current", lambda: None)
    monkeypatch.setattr("utils.measuring.real_queue.CACHE_BYTES", 2**12)
    assert isinstance(pitfalls.device_to_time(LADDER.step("naive")), CpuQueue)
