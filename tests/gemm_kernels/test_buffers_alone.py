"""The experiment that times early loads and a second buffer, each alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemm_kernels import buffers_alone
from gemm_kernels.__main__ import COMMANDS
from utils.ladder.shapes import GemmShape
from utils.ladder.verify import verify_all
from utils.measuring.command_line import main

OWN = [v for v in buffers_alone.variants() if v.step.module == buffers_alone.__name__]
NAMES = [str(variant) for variant in buffers_alone.variants()]


@settings(max_examples=2, deadline=None)
@given(st.integers(1, 140), st.integers(1, 5), st.integers(1, 35))
def test_the_products_are_right_at_any_shape_of_quads(m, k, n):
    shape = GemmShape(m, 4 * n, 4 * k)
    verdicts = verify_all(buffers_alone.LADDER, OWN, shape, kinds=("integers",))
    assert all(verdict.passed for verdict in verdicts)


def test_without_a_device_one_sentence_says_so(monkeypatch, capsys):
    monkeypatch.setattr("utils.machine.devices.current", lambda: None)
    assert main("", COMMANDS, ["buffers-alone"]) == 2
    assert "buffers-alone needs a CUDA device" in capsys.readouterr().err


def test_the_record_has_all_kernels_at_each_size():
    assert [(row.kernel, row.n) for row in buffers_alone.recorded_times()] == [
        (name, n) for n in buffers_alone.SIZES for name in NAMES
    ]


@pytest.mark.parametrize("n", buffers_alone.SIZES)
def test_each_change_alone_is_faster_and_both_are_fastest(n):
    rows = {row.kernel: row for row in buffers_alone.recorded_times() if row.n == n}
    neither, early, second, both = (rows[name] for name in buffers_alone.CHANGES)
    for slow, fast in ((neither, early), (neither, second), (early, both), (second, both)):
        assert slow.time_ms_min > fast.time_ms_max
