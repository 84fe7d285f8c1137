"""The product of lesson 17 that has few rows, timed beside cuBLAS."""

from types import SimpleNamespace

import numpy as np
import pytest

from tools.records import few_rows
from utils.errors import CourseError
from utils.ladder.shapes import GemmShape
from utils.measuring import rows
from utils.measuring.command_line import main
from utils.measuring.kernel_times import ShapeTime
from utils.measuring.timing import Timing
from utils.paths import DATA

FILES = sorted((DATA / "measured").glob("*/few_rows.csv"))
SMALL = GemmShape(5, 132, 36)


@pytest.fixture
def library(monkeypatch):
    monkeypatch.setattr(few_rows, "CUBLAS", SimpleNamespace(bind=lambda inputs, out: print))
    monkeypatch.setattr(few_rows, "time_gpu", lambda runs: [Timing(3, 2, 4, 7, 9)] * len(runs))


def test_each_way_is_verified_and_becomes_a_row(library):
    timed = list(few_rows.measured("none", SMALL))
    assert [row.kernel for row in timed] == [*few_rows.WAYS, "sgemm", "cuBLAS"]
    assert {(row.m, row.n, row.k, row.time_ms) for row in timed} == {(5, 132, 36, 3)}


def test_a_wrong_product_is_not_timed(library, monkeypatch):
    monkeypatch.setattr(few_rows, "sgemm", lambda a, b, out: out)
    with pytest.raises(CourseError, match="product of sgemm is wrong"):
        list(few_rows.measured("none", SMALL))


def test_without_the_library_nothing_is_timed(monkeypatch):
    monkeypatch.setattr(few_rows, "CUBLAS", SimpleNamespace(bind=lambda inputs, out: None))
    with pytest.raises(CourseError, match="install CuPy"):
        few_rows.rivals(SMALL, (np.ones((5, 36), "f"), np.ones((36, 132), "f")), np.ones((5, 132)))


def test_without_a_device_one_sentence_says_so(monkeypatch, capsys):
    monkeypatch.setattr("utils.machine.devices.current", lambda: None)
    assert main("", (few_rows.EXPERIMENT.command(),), ["few-rows"]) == 2
    assert "few-rows needs a CUDA device" in capsys.readouterr().err


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_a_record_has_all_ways(file):
    recorded = [row.kernel for row in rows.read(file, ShapeTime)]
    assert recorded == [*few_rows.WAYS, "sgemm", "cuBLAS"]
