"""The record of the kernels of lesson 00."""

import numpy as np
import pytest

from tools.records import first_kernels
from utils.errors import CourseError
from utils.measuring import rows
from utils.measuring.timing import Timing
from utils.paths import DATA

FILES = sorted((DATA / "measured").glob("*/first_kernels.csv"))


def timed(runs):
    for run in runs:
        run()
    return [Timing(1.0, 1.0, 1.0, repetitions=1, launches=1) for _ in runs]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(first_kernels, "ELEMENTS", (4096,))
    monkeypatch.setattr(first_kernels, "time_gpu", timed)


def test_each_kernel_is_timed_once_per_length():
    assert [(row.kernel, row.elements) for row in first_kernels.measured("none")] == [
        (name, 4096) for name in first_kernels.KERNELS
    ]


def test_a_wrong_kernel_is_not_recorded(monkeypatch):
    monkeypatch.setattr(first_kernels, "FACTOR", np.float32(np.nan))
    with pytest.raises(CourseError, match="scale is wrong, so nothing is recorded"):
        list(first_kernels.measured("none"))


def test_there_is_a_record():
    assert FILES


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_a_record_has_all_kernels_at_each_length(file):
    recorded = rows.read(file, first_kernels.ArrayTime)
    assert {(row.kernel, row.elements) for row in recorded} == {
        (name, elements) for name in first_kernels.KERNELS for elements in (2**20, 2**28)
    }
