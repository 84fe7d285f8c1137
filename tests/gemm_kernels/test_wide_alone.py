"""The experiment that times padded rows and a transposed tile apart from wide loads."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemm_kernels import wide_alone
from gemm_kernels.__main__ import COMMANDS
from utils.ladder.shapes import GemmShape
from utils.ladder.verify import verify_all
from utils.measuring.command_line import main

OWN = [v for v in wide_alone.variants() if v.step.module == wide_alone.__name__]
NAMES = [str(variant) for variant in wide_alone.variants()]


@settings(max_examples=3, deadline=None)
@given(st.integers(1, 140), st.integers(1, 20), st.integers(1, 140))
def test_the_products_are_right_at_any_shape(m, k, n):
    verdicts = verify_all(wide_alone.LADDER, OWN, GemmShape(m, k, n), kinds=("integers",))
    assert all(verdict.passed for verdict in verdicts)


def test_without_a_device_one_sentence_says_so(monkeypatch, capsys):
    monkeypatch.setattr("utils.machine.devices.current", lambda: None)
    assert main("", COMMANDS, ["wide-alone"]) == 2
    assert "wide-alone needs a CUDA device" in capsys.readouterr().err


def test_the_record_has_all_kernels_at_each_size():
    assert [(row.kernel, row.n) for row in wide_alone.recorded_times()] == [
        (name, n) for n in wide_alone.SIZES for name in NAMES
    ]


@pytest.mark.parametrize("n", wide_alone.SIZES)
def test_each_change_alone_is_faster_than_the_one_before(n):
    rows = [row for row in wide_alone.recorded_times() if row.n == n]
    assert all(before.time_ms_min > after.time_ms for before, after in pairwise(rows))
