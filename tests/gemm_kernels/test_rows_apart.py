"""The experiment that times a thread's rows side by side and spread out."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemm_kernels import rows_apart
from gemm_kernels.__main__ import COMMANDS
from utils.ladder.shapes import GemmShape
from utils.ladder.verify import verify_all
from utils.measuring.command_line import main

OWN = [variant for variant in rows_apart.variants() if variant.step is rows_apart.STEP]
NAMES = [str(variant) for variant in rows_apart.variants()]


@settings(max_examples=3, deadline=None)
@given(st.integers(1, 140), st.integers(1, 20), st.integers(1, 140))
def test_the_products_are_right_at_any_shape(m, k, n):
    verdicts = verify_all(rows_apart.LADDER, OWN, GemmShape(m, k, n), kinds=("integers",))
    assert all(verdict.passed for verdict in verdicts)


def test_without_a_device_one_sentence_says_so(monkeypatch, capsys):
    monkeypatch.setattr("utils.machine.devices.current", lambda: None)
    assert main("", COMMANDS, ["rows-apart"]) == 2
    assert "rows-apart needs a CUDA device" in capsys.readouterr().err


def test_the_record_has_all_kernels_at_each_size():
    assert [(row.kernel, row.n) for row in rows_apart.recorded_times()] == [
        (name, n) for n in rows_apart.SIZES for name in NAMES
    ]


def test_the_profiler_counted_all_kernels():
    assert list(rows_apart.recorded_counters("NVIDIA H200")) == NAMES


@pytest.mark.parametrize("n", rows_apart.SIZES)
def test_spread_rows_are_faster_with_8x8_elements_per_thread(n):
    timed = {row.kernel: row for row in rows_apart.recorded_times() if row.n == n}
    for side_by_side, spread in zip(NAMES[::2], NAMES[1::2], strict=True):
        if "TM=8 TN=8" in spread:
            assert timed[spread].time_ms_max < timed[side_by_side].time_ms_min
