"""The times of steps and calls with two compilers: pairs, tables, and a sentence in the fold."""

from dataclasses import replace

import pytest

import gemm_kernels
from utils.lessons.lesson_16 import compiler_times, two_compilers
from utils.lessons.lesson_16.compiler_times import (
    CALLS,
    TIMES,
    CompilerCall,
    CompilerTime,
    calls,
    calls_table,
    times,
    times_table,
)
from utils.measuring import rows
from utils.measuring.rows import Date

DAY = Date("2026-11-27")
STEP = CompilerTime(
    "NVIDIA H200", "gemm", "naive", "4096×4096×4096", "numba-cuda", "0.30.4", "13.0",
    20.0, 19.0, 21.0, None, DAY,
)  # fmt: skip
CALL = CompilerCall(
    "NVIDIA H200", "sgemm", 64, 32, 16, None, "rows, rows", "numba-cuda", "0.30.4", "13.0",
    5.0, 8.0, DAY,
)  # fmt: skip
OTHER = {"compiler": "numba-cuda-mlir", "version": "0.6.0"}


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """A record of one step and two calls; a third call has the row of one compiler only."""
    monkeypatch.setattr(compiler_times, "MEASURED", tmp_path)
    folder = tmp_path / "nvidia_h200"
    rows.write(folder / TIMES, [STEP, replace(STEP, time_ms=30.0, **OTHER)], CompilerTime)
    into_out = replace(CALL, function="reduce into out", m=None, n=None, k=None, elements=4096)
    called = [CALL, replace(CALL, time_us=4.0, **OTHER), into_out, replace(into_out, **OTHER)]
    rows.write(folder / CALLS, [*called, replace(CALL, m=65)], CompilerCall)


@pytest.mark.usefixtures("recorded")
def test_the_tables_have_a_line_per_pair():
    assert times_table().splitlines()[2] == "| `naive` | 4096×4096×4096 | 20 | 30 | 1.500 |"
    assert calls_table().splitlines()[2:4] == [
        "| sgemm | 64×32×16 | rows, rows | 8 | 4 | 0.500 | 5 | 5 |",
        "| reduce into out | 4,096 | rows, rows | 8 | 8 | 1.000 | 5 | 5 |",
    ]
    assert calls_table().endswith("The geometric mean of the 2 ratios is 0.707.")


@pytest.mark.usefixtures("recorded")
def test_the_fold_has_a_sentence_on_the_times():
    fold = two_compilers.side_by_side(gemm_kernels.LADDER.step("naive"))
    sentence = "took 20 ms with numba-cuda and 30 ms with numba-cuda-mlir."
    assert sentence in str(fold)
    assert sentence not in str(two_compilers.side_by_side(gemm_kernels.LADDER.step("tiled")))


def test_without_a_record_there_are_no_pairs(tmp_path, monkeypatch):
    monkeypatch.setattr(compiler_times, "MEASURED", tmp_path)
    assert times() == calls() == []
    assert times_table() == calls_table() == compiler_times.NOT_RECORDED
