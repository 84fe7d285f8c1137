"""Copies are counted for a lesson, and recorded times can be read by name."""

import numpy as np
import pytest

from gemm_kernels.naive import naive
from labs import EXERCISES
from utils.errors import CourseError
from utils.lessons.lesson_04 import transfers
from utils.lessons.lesson_04.transfers import copies, first_size_of_gpu, transfer_ms
from utils.machine import devices

GIVEN = EXERCISES["to_the_gpu_and_back"]
A, B = np.ones((48, 20), np.float32), np.ones((20, 80), np.float32)


def test_copies_of_a_function_are_counted_by_array_and_direction():
    table = copies(GIVEN.solution, naive, A, B)
    assert table.rows == (
        ("48×20", "to device", "`to_device`", "1", "3,840"),
        ("20×80", "to device", "`to_device`", "1", "6,400"),
        ("48×80", "to host", "`copy_to_host`", "1", "15,360"),
        ("all", "", "", "3", "25,600"),
    )


def test_equal_copies_share_a_row():
    table = copies(lambda: [GIVEN.starter(naive, A, B) for _ in range(5)])
    assert len(table.rows) == 7
    assert table.rows[-1] == ("all", "", "", "30", "256,000")


def test_a_time_that_is_not_recorded_is_refused_with_the_command_that_makes_it():
    with pytest.raises(CourseError, match=r"0 times of part .* transfers --record"):
        transfer_ms("part", "PART=nothing")
    with pytest.raises(CourseError, match="4 times of product_managed"):
        transfer_ms("product_managed")


def test_one_number_is_a_square_shape():
    square = transfer_ms("product_numpy", shape="512")
    assert square == transfer_ms("product_numpy", shape="512x512x512")


def test_a_gpu_without_such_records_shows_the_courses_own(monkeypatch):
    monkeypatch.setattr(transfers, "device_shown", lambda: devices.find("Tesla T4"))
    assert set(transfers.recorded_transfers()["device"]) == {devices.REFERENCE}


def test_the_first_size_is_the_one_from_which_on_all_are_faster(monkeypatch):
    gpu = {"64": 3, "128": 1, "256": 3, "512": 1, "1024": 1, "2048": 1}
    times = {"product_with_copies": gpu, "rival": dict.fromkeys(gpu, 2)}
    monkeypatch.setattr(transfers, "transfer_ms", lambda step, params, n: times[step][n])
    assert first_size_of_gpu("rival") == 512


DRAWN = [
    transfers.draw_managed_kernels, transfers.draw_ten_products, transfers.draw_what_is_left,
]  # fmt: skip


@pytest.mark.parametrize("draw", DRAWN)
def test_bars_tell_their_times_in_words(draw):
    drawn = draw()
    assert "kernel" in drawn.alt
    assert drawn.alt in drawn.body.replace("&#x27;", "'")


def test_functions_are_compared_by_their_copies():
    compared = transfers.compare(A, B, copied_by_the_launch=GIVEN.starter, yours=GIVEN.solution)
    assert compared.rows == (
        ("copied by the launch", "6", "25,600", "25,600"), ("yours", "3", "10,240", "15,360"),
    )  # fmt: skip


@pytest.mark.slow
def test_curves_are_shown_with_their_words(capsys):
    assert "n = 64" in transfers.draw_break_even().alt
    transfers.draw_bandwidth("pinned")
