"""The experiment that times sums with one and two launches, and its record."""

import numpy as np
import pytest

from tools.records import single_launch
from utils.errors import CourseError
from utils.measuring import rows
from utils.measuring.as_called import Called
from utils.measuring.kernel_times import LaunchTime
from utils.measuring.timing import Timing
from utils.paths import DATA

FILES = sorted((DATA / "measured").glob("*/single_launch.csv"))


def timed(runs):
    for run in runs:
        run()
    return [Timing(1.0, 1.0, 1.0, repetitions=1, launches=1) for _ in runs]


def called(rivals, generator):
    for run in rivals.values():
        run()
    return dict.fromkeys(rivals, Called(1.0, 2.0))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(single_launch, "ELEMENTS", 5000)
    monkeypatch.setattr(single_launch, "KIB", 1)
    monkeypatch.setattr(single_launch, "time_gpu", timed)
    monkeypatch.setattr(single_launch, "compared", called)


def test_each_way_is_timed_once():
    measured = list(single_launch.measured("NVIDIA H200"))
    assert [row.kernel for row in measured] == list(single_launch.ways())
    assert {(row.host_us, row.call_us, row.hot_ms) for row in measured} == {(1.0, 2.0, 1.0)}


@pytest.mark.slow
def test_a_wrong_sum_is_not_recorded(monkeypatch):
    monkeypatch.setattr(single_launch.np, "allclose", lambda *_, **__: False)
    with pytest.raises(CourseError, match="sum of reduce7 is wrong, so nothing is recorded"):
        list(single_launch.measured("NVIDIA H200"))


@pytest.mark.parametrize("name", ["reduce9 without sum", "ticket without sum"])
def test_without_its_sum_the_last_block_stores_another_number(name):
    x, out = np.ones(40_000, np.float32), np.full(1, np.nan, np.float32)
    single_launch.ways()[name].bind(x, out)()
    assert out[0] < x.sum()


def test_there_is_a_record():
    assert FILES


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_a_record_has_each_way(file):
    recorded = rows.read(file, LaunchTime)
    assert {row.kernel: row.launches for row in recorded} == {
        name: way.launches for name, way in single_launch.ways().items()
    }
    assert all(row.elements == 2**22 for row in recorded)
