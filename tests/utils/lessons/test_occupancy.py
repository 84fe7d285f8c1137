"""Tests of the tables of occupancy: resources, resident blocks, published and recorded values."""

import pytest

from gemm_kernels import LADDER
from utils.errors import CourseError
from utils.lessons.occupancy import (
    occupancies,
    occupancy_of_fastest,
    published_paradox,
    sm_limits,
)
from utils.machine.occupancy import limits_of


def test_the_limits_are_those_of_the_reference_device():
    shown = dict(row[:2] for row in sm_limits().rows)
    limits = limits_of((9, 0))
    assert shown["1. warp slots"] == str(limits.warps_per_sm)
    assert shown["2. block slots"] == str(limits.blocks_per_sm)
    assert shown["3. registers"] == "4 parts of 16,384"
    assert shown["4. shared memory"] == f"{limits.shared_kib_per_sm * 1024:,} bytes"


def test_a_row_says_what_an_sm_holds_and_what_runs_out_first():
    (row,) = occupancies({"mine": (256, 41, 0)}).rows
    assert row == ("mine", "5", "40", "62.5 %", "registers")


def test_resources_have_the_names_of_the_lesson():
    (row,) = occupancies({"small": (64, 24, 0)}).rows
    assert row[-1] == "warp slots, block slots"


def test_another_gpu_has_other_limits():
    kepler = occupancies({"8×8": (64, 32, 512)}, (3, 5))
    assert "3.5, 64 warp slots" in kepler.caption
    assert kepler.rows[0][3] == "50 %"


def test_what_no_kernel_can_have_is_refused():
    with pytest.raises(CourseError, match="threads=2048"):
        occupancies({"large": (2048, 32, 0)})


def test_the_published_rows_stand_in_the_order_of_the_source():
    rows = published_paradox().rows
    assert [row[0].split()[0] for row in rows] == ["CUBLAS", "CUBLAS", "CUFFT", "CUFFT"]
    assert rows[0][1:] == ("512", "67 %", "128 GFLOP/s")


def test_the_fastest_step_is_looked_up_in_the_record():
    assert 0 < occupancy_of_fastest(LADDER, "4096") <= 100
    with pytest.raises(CourseError, match="Nothing is recorded"):
        occupancy_of_fastest(LADDER, "4097")
